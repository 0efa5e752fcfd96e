import {
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
import { useAppNavigate } from '../../../ui/AppLink'
import { DeleteButton, EditForm, FormError, StaleNotice } from '../../../ui/form/EditForm'
import { FormActions } from '../../../ui/formPage/FormActions'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import { IfAllowed } from '../../../ui/IfAllowed'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'
import { bodyOf, NEW_VALUES, ofKind, type Values, valuesOf } from './indicatorDraft'
import { ValueInput } from './ValueInput'
import '../indicators.css'

const editIndicatorRoute = getRouteApi('/$customer/indicators/$id/edit')

export function NewIndicatorPage() {
  const t = useText()
  usePageTitle(t.new)
  const go = useAppNavigate()
  const client = useQueryClient()
  const [values, setValues] = useState(NEW_VALUES)
  const make = useMutation({
    mutationFn: () => ok(api.POST('/indicator', { body: bodyOf(values) })),
    onSuccess: (indicator) => {
      showSuccess(t.created(indicator.title))
      void client.invalidateQueries({ queryKey: ['indicator'] })
      go(`/indicators/${indicator.id}`)
    },
  })
  return (
    <IfAllowed action="indicator.edit">
      <Form values={values} onChange={setValues} error={make.error} onSubmit={() => make.mutate()}>
        <FormActions isNew busy={make.isPending} cancelTo="/indicators" />
      </Form>
    </IfAllowed>
  )
}

export function EditIndicatorPage() {
  const { id } = editIndicatorRoute.useParams()
  const query = useQuery(indicatorQuery(id))
  usePageTitle(query.data?.title ?? '')
  return (
    <IfAllowed action="indicator.edit">
      <QueryResult query={query}>
        {(indicator) => <Edit indicator={indicator} key={indicator.id} />}
      </QueryResult>
    </IfAllowed>
  )
}

function Edit({ indicator }: { indicator: Indicator }) {
  const w = useWords()
  const go = useAppNavigate()
  const client = useQueryClient()
  const [base, setBase] = useState(indicator)
  const [values, setValues] = useState(() => valuesOf(indicator))
  const save = useMutation({
    mutationFn: () =>
      ok(
        api.PATCH('/indicator/{id}', {
          params: { path: { id: indicator.id } },
          body: bodyOf(values, valuesOf(base)),
          headers: { 'If-Match': String(base.version) },
        }),
      ),
    onSuccess: () => {
      showSuccess(w.saved)
      void client.invalidateQueries({ queryKey: ['indicator'] })
      go(`/indicators/${indicator.id}`)
    },
  })
  const isStale = save.error instanceof ApiError && save.error.status === 412
  const reload = async () => {
    const newest = await client.fetchQuery({ ...indicatorQuery(indicator.id), staleTime: 0 })
    setBase(newest)
    setValues(valuesOf(newest))
    save.reset()
  }
  return (
    <>
      {isStale ? <StaleNotice maw={640} onReload={() => void reload().catch(showError)} /> : null}
      <Form
        values={values}
        onChange={setValues}
        error={isStale ? null : save.error}
        onSubmit={() => save.mutate()}
        isOld
      >
        <FormActions busy={save.isPending} cancelTo={`/indicators/${indicator.id}`}>
          <Delete indicator={indicator} />
        </FormActions>
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
          <OptionGroup
            title={t.groups.about}
            summary={[values.description, ...values.tags].filter(Boolean).join(' · ')}
            hasErrors={hasErrorIn(errors, ['description', 'tags'])}
          >
            <TextInput
              label={t.description}
              value={values.description}
              error={errors.description}
              onChange={(event) => set('description', event.currentTarget.value)}
            />
            <TagsInput
              label={t.tags}
              description={t.tagsHelp}
              value={values.tags}
              error={errors.tags}
              onChange={(tags) => set('tags', tags)}
            />
          </OptionGroup>
          <OptionGroup title={t.groups.display} hasErrors={hasErrorIn(errors, ['order', 'ttl'])}>
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
            <Switches values={values} set={set} />
          </OptionGroup>
          <FormError error={error} />
          {children}
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

function Delete({ indicator }: { indicator: Indicator }) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const remove = async () => {
    await ok(api.DELETE('/indicator/{id}', { params: { path: { id: indicator.id } } }))
    showSuccess(t.deleted(indicator.title))
    go('/indicators')
    void client.invalidateQueries({ queryKey: ['indicator'] })
  }
  const refusal = indicator.read_only ? t.readOnlyNow : undefined
  return <DeleteButton name={indicator.title} refusal={refusal} onDelete={remove} />
}
