import {
  Button,
  Group,
  NumberInput,
  Paper,
  Select,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, ok } from '../../../api/client'
import { ApiError, byField } from '../../../api/errors'
import { type Indicator, indicatorQuery } from '../../../api/queries/monitoring/indicator'
import { usePageTitle } from '../../../app/title'
import { Go, useGo } from '../../../ui/AppLink'
import { DeleteButton, EditForm, Refusal, Stale } from '../../../ui/form/EditForm'
import { Only } from '../../../ui/IfAllowed'
import { Loaded } from '../../../ui/layout/QueryResult'
import { useWords } from '../../../ui/text'
import { done } from '../../../ui/toast'
import { useText } from '../text'
import { bodyOf, FRESH, ofKind, type Values, valuesOf } from './indicatorDraft'
import { ValueInput } from './ValueInput'
import '../indicators.css'

const editIndicatorRoute = getRouteApi('/$customer/indicators/$id/edit')

export function NewIndicatorPage() {
  const t = useText()
  const w = useWords()
  usePageTitle(t.new)
  const go = useGo()
  const client = useQueryClient()
  const [values, setValues] = useState(FRESH)
  const make = useMutation({
    mutationFn: () => ok(api.POST('/indicator', { body: bodyOf(values) })),
    onSuccess: (made) => {
      done(t.made(made.title))
      void client.invalidateQueries({ queryKey: ['indicator'] })
      go(`/indicators/${made.id}`)
    },
  })
  return (
    <Only act="indicator.edit">
      <Form values={values} onChange={setValues} error={make.error} onSubmit={() => make.mutate()}>
        <Button type="submit" loading={make.isPending}>
          {t.make}
        </Button>
        <Button component={Go} to="/indicators" variant="default">
          {w.cancel}
        </Button>
      </Form>
    </Only>
  )
}

export function EditIndicatorPage() {
  const { id } = editIndicatorRoute.useParams()
  const query = useQuery(indicatorQuery(id))
  usePageTitle(query.data?.title ?? '')
  return (
    <Only act="indicator.edit">
      <Loaded query={query}>{(one) => <Edit one={one} key={one.id} />}</Loaded>
    </Only>
  )
}

function Edit({ one }: { one: Indicator }) {
  const w = useWords()
  const go = useGo()
  const client = useQueryClient()
  const [base, setBase] = useState(one)
  const [values, setValues] = useState(() => valuesOf(one))
  const save = useMutation({
    mutationFn: () =>
      ok(
        api.PATCH('/indicator/{id}', {
          params: { path: { id: one.id } },
          body: bodyOf(values, valuesOf(base)),
          headers: { 'If-Match': String(base.version) },
        }),
      ),
    onSuccess: () => {
      done(w.saved)
      void client.invalidateQueries({ queryKey: ['indicator'] })
      go(`/indicators/${one.id}`)
    },
  })
  const isStale = save.error instanceof ApiError && save.error.status === 412
  const again = () => {
    setBase(one)
    setValues(valuesOf(one))
    save.reset()
  }
  return (
    <>
      {isStale ? <Stale maw={640} onReload={again} /> : null}
      <Form
        values={values}
        onChange={setValues}
        error={isStale ? null : save.error}
        onSubmit={() => save.mutate()}
        isOld
      >
        <Button type="submit" loading={save.isPending}>
          {w.save}
        </Button>
        <Button component={Go} to={`/indicators/${one.id}`} variant="default">
          {w.cancel}
        </Button>
        <Delete one={one} />
      </Form>
    </>
  )
}

interface FormProps {
  values: Values
  error: Error | null
  isOld?: boolean
  onChange: (values: Values) => void
  onSubmit: () => void
  children: ReactNode
}

function Form({ values, error, isOld, onChange, onSubmit, children }: FormProps) {
  const t = useText()
  const errors = byField(error)
  const set = <Name extends keyof Values>(name: Name, value: Values[Name]) =>
    onChange({ ...values, [name]: value })
  return (
    <Paper withBorder p="md" maw={640}>
      <EditForm onSubmit={onSubmit}>
        <Stack gap="sm">
          <TextInput
            label={t.title}
            description={t.titleHelp}
            required
            value={values.title}
            error={errors.title}
            onChange={(event) => set('title', event.currentTarget.value)}
          />
          {isOld ? null : (
            <Select
              label={t.kind}
              description={t.kindHelp[values.type]}
              allowDeselect={false}
              data={Object.entries(t.kinds).map(([value, label]) => ({ value, label }))}
              value={values.type}
              onChange={(type) => type && onChange(ofKind(values, type))}
            />
          )}
          <ValueInput values={values} errors={errors} onChange={(value) => set('value', value)} />
          <Group grow align="flex-start">
            <Select
              label={t.state}
              allowDeselect={false}
              data={Object.entries(t.states).map(([value, label]) => ({ value, label }))}
              value={values.state}
              onChange={(state) => set('state', state ?? 'normal')}
            />
            <Select
              label={t.severity}
              allowDeselect={false}
              data={Object.entries(t.severities).map(([value, label]) => ({ value, label }))}
              value={values.severity}
              onChange={(severity) => set('severity', severity ?? 'HIGH')}
            />
          </Group>
          <TextInput
            label={t.description}
            value={values.description}
            onChange={(event) => set('description', event.currentTarget.value)}
          />
          <Group grow align="flex-start">
            <NumberInput
              label={t.order}
              description={t.orderHelp}
              value={values.order}
              error={errors.order}
              onChange={(order) => set('order', order)}
            />
            <NumberInput
              label={t.ttl}
              description={t.ttlHelp}
              min={0}
              value={values.ttl}
              error={errors.ttl}
              onChange={(ttl) => set('ttl', ttl)}
            />
          </Group>
          <TagsInput
            label={t.tags}
            description={t.tagsHelp}
            value={values.tags}
            error={errors.tags}
            onChange={(tags) => set('tags', tags)}
          />
          <Switches values={values} set={set} />
          <Refusal error={error} />
          <Group gap={8}>{children}</Group>
        </Stack>
      </EditForm>
    </Paper>
  )
}

function Switches({
  values,
  set,
}: {
  values: Values
  set: (name: 'sticky' | 'read_only' | 'enable' | 'alerts', on: boolean) => void
}) {
  const t = useText()
  const all = [
    ['sticky', t.sticky],
    ['read_only', t.readOnly],
    ['enable', t.enable],
    ['alerts', t.alerts],
  ] as const
  return all.map(([name, label]) => (
    <Switch
      key={name}
      label={label}
      checked={values[name]}
      onChange={(event) => set(name, event.currentTarget.checked)}
    />
  ))
}

function Delete({ one }: { one: Indicator }) {
  const t = useText()
  const go = useGo()
  const client = useQueryClient()
  const remove = async () => {
    await ok(api.DELETE('/indicator/{id}', { params: { path: { id: one.id } } }))
    done(t.deleted(one.title))
    go('/indicators')
    void client.invalidateQueries({ queryKey: ['indicator'] })
  }
  const refusal = one.read_only ? t.readOnlyNow : undefined
  return <DeleteButton name={one.title} refusal={refusal} onDelete={remove} />
}
