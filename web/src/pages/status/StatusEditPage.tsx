import { Paper, Stack, Switch, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, ok, ROOT, type Shape, UI } from '../../api/client'
import { ApiError, byField } from '../../api/errors'
import { type StatusPage, statusPageQuery } from '../../api/queries/monitoring/statusPage'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { useAppNavigate } from '../../ui/AppLink'
import { CopyField } from '../../ui/form/CopyField'
import { DeleteButton, EditForm, StaleNotice } from '../../ui/form/EditForm'
import { FormActions } from '../../ui/formPage/FormActions'
import { hasErrorIn, OptionGroup } from '../../ui/formPage/OptionGroup'
import { QueryResult } from '../../ui/layout/QueryResult'
import { useWords } from '../../ui/text'
import { showSuccess } from '../../ui/toast'
import { LogoInput } from './LogoInput'
import { PartsInput } from './PartsInput'
import { PostedIncidents } from './PostedIncidents'
import { draftOf, newPart, type PartDraft, partOf } from './partDraft'
import { Subscribers } from './Subscribers'
import { useText } from './text'
import './status.css'

const editStatusRoute = getRouteApi('/$customer/status/$id')

interface Values {
  title: string
  slug: string
  description: string
  enable: boolean
  parts: PartDraft[]
}

type Body = Shape<'StatusPageBody'>

function bodyOf({ title, slug, description, enable, parts }: Values): Body {
  return {
    title,
    description,
    enable,
    ...(slug ? { slug } : {}),
    parts: parts.map(partOf) as Body['parts'],
  }
}

function valuesOf(page: StatusPage): Values {
  const { title, slug, description, enable, parts } = page
  return { title, slug, description, enable, parts: parts.map(draftOf) }
}

export function NewStatusPage() {
  const t = useText()
  usePageTitle(t.new)
  const go = useAppNavigate()
  const client = useQueryClient()
  const [values, setValues] = useState<Values>(() => ({
    title: '',
    slug: '',
    description: '',
    enable: true,
    parts: [newPart()],
  }))
  const make = useMutation({
    mutationFn: () => ok(api.POST('/statuspage', { body: bodyOf(values) })),
    onSuccess: (page) => {
      showSuccess(t.created(page.title))
      void client.invalidateQueries({ queryKey: ['statuspage'] })
      go(`/status/${page.id}`)
    },
  })
  return (
    <Form values={values} onChange={setValues} error={make.error} onSubmit={() => make.mutate()}>
      <FormActions isNew busy={make.isPending} cancelTo="/status" />
    </Form>
  )
}

export function EditStatusPage() {
  const { id } = editStatusRoute.useParams()
  const query = useQuery(statusPageQuery(id))
  const may = useCan()('statuspage.edit')
  usePageTitle(query.data?.title ?? '')
  return (
    <QueryResult query={query}>
      {(page) => (
        <Stack gap="md">
          <Edit page={page} key={page.id} />
          {may ? <PostedIncidents pageId={page.id} /> : null}
          {may ? <LogoInput page={page} /> : null}
          {may ? <Subscribers pageId={page.id} /> : null}
          <Share page={page} />
        </Stack>
      )}
    </QueryResult>
  )
}

function Edit({ page }: { page: StatusPage }) {
  const w = useWords()
  const client = useQueryClient()
  const may = useCan()('statuspage.edit')
  const [base, setBase] = useState(page)
  const [values, setValues] = useState(() => valuesOf(page))
  const start = (from: StatusPage) => {
    setBase(from)
    setValues(valuesOf(from))
  }
  const save = useMutation({
    mutationFn: () =>
      ok(
        api.PATCH('/statuspage/{id}', {
          params: { path: { id: page.id } },
          body: bodyOf(values),
          headers: { 'If-Match': String(base.version) },
        }),
      ),
    onSuccess: (saved) => {
      showSuccess(w.saved)
      start(saved)
      void client.invalidateQueries({ queryKey: ['statuspage'] })
    },
  })
  const isStale = save.error instanceof ApiError && save.error.status === 412
  return (
    <>
      {isStale ? (
        <StaleNotice
          maw={720}
          onReload={async () => {
            start(await client.fetchQuery({ ...statusPageQuery(page.id), staleTime: 0 }))
            save.reset()
          }}
        />
      ) : null}
      <Form
        values={values}
        onChange={setValues}
        error={isStale ? null : save.error}
        onSubmit={() => save.mutate()}
      >
        <FormActions busy={save.isPending} disabled={!may} cancelTo="/status">
          {may ? <Delete page={page} /> : null}
        </FormActions>
      </Form>
    </>
  )
}

interface FormProps {
  values: Values
  error: Error | null
  onChange: (values: Values) => void
  onSubmit: () => void
  children: ReactNode
}

function Form({ values, error, onChange, onSubmit, children }: FormProps) {
  const t = useText()
  const errors = byField(error)
  const set = (change: Partial<Values>) => onChange({ ...values, ...change })
  return (
    <Paper withBorder p="md" className="status-edit">
      <EditForm onSubmit={onSubmit}>
        <Stack gap="sm">
          <TextInput
            label={t.title}
            required
            value={values.title}
            error={errors.title}
            onChange={(event) => set({ title: event.currentTarget.value })}
          />
          <PartsInput value={values.parts} errors={errors} onChange={(parts) => set({ parts })} />
          <Switch
            label={t.enable}
            checked={values.enable}
            onChange={(event) => set({ enable: event.currentTarget.checked })}
          />
          <OptionGroup
            title={t.addressGroup}
            summary={[values.slug, values.description].filter(Boolean).join(' · ')}
            hasErrors={hasErrorIn(errors, ['slug', 'description'])}
          >
            <TextInput
              label={t.slug}
              description={t.slugHelp}
              value={values.slug}
              error={errors.slug}
              onChange={(event) => set({ slug: event.currentTarget.value })}
            />
            <Textarea
              label={t.description}
              autosize
              value={values.description}
              error={errors.description}
              onChange={(event) => set({ description: event.currentTarget.value })}
            />
          </OptionGroup>
          {error ? (
            <Text c="red.9" size="sm" role="alert">
              {errors.parts ?? error.message}
            </Text>
          ) : null}
          {children}
        </Stack>
      </EditForm>
    </Paper>
  )
}

/** The address and the badge, ready to be pasted. */
function Share({ page }: { page: StatusPage }) {
  const t = useText()
  const link = new URL(`${UI}status/${page.slug}`, location.origin).href
  const badge = new URL(`${ROOT}-/status/${page.slug}/badge.svg`, location.origin).href
  return (
    <Paper withBorder p="md" className="status-edit">
      <Stack gap={8}>
        <Title order={2} size="h6">
          {t.share}
        </Title>
        <CopyField value={link} label={t.link} />
        {page.enable ? (
          <img
            src={`${badge}?v=${page.version}`}
            alt={`${t.badge}: ${page.title}`}
            height={20}
            style={{ alignSelf: 'flex-start' }}
          />
        ) : null}
        <CopyField value={`[![${page.title}](${badge})](${link})`} label={t.markdown} />
        <CopyField
          value={`<a href="${link}"><img src="${badge}" alt="${page.title.replaceAll('"', '&quot;')}"></a>`}
          label={t.html}
        />
      </Stack>
    </Paper>
  )
}

function Delete({ page }: { page: StatusPage }) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const remove = async () => {
    await ok(api.DELETE('/statuspage/{id}', { params: { path: { id: page.id } } }))
    showSuccess(t.deleted(page.title))
    go('/status')
    void client.invalidateQueries({ queryKey: ['statuspage'] })
  }
  return <DeleteButton name={page.title} onDelete={remove} />
}
