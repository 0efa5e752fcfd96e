import { Group, Paper, Select, Stack, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { hostNamesQuery, MAX_CHOICES } from '../../../api/queries/names'
import { interval } from '../../../lib/format'
import { EditForm } from '../../../ui/form/EditForm'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import { severityText } from '../../../ui/monitoring/severityText'
import { NotifyChoice } from '../../../ui/notify/NotifyChoice'
import type { OwnChannels } from '../../../ui/notify/ownRule'
import { ConfigField } from './ConfigField'
import { COMMON, type Field, fieldsOf, needsHost, type Values } from './kinds'
import { useKindText } from './kindText'
import { type MaintenanceWindow, MaintenanceWindows } from './MaintenanceWindows'

interface Props {
  kind: string
  values: Values
  errors: Record<string, string>
  onChange: (values: Values) => void
  onSubmit: () => void
  self?: string
  own: OwnChannels
  /** Buttons at the end. */
  children: ReactNode
}

/** All settings of a monitor kind; rarely used ones are collapsed. */
export function MonitorForm(props: Props) {
  const { kind, values, errors, onChange, onSubmit, self, own, children } = props
  const t = useKindText()
  const fields = fieldsOf(kind)
  const seldom = fields.filter((field) => field.seldom)
  const set = (name: string) => (value: unknown) => onChange({ ...values, [name]: value })
  const show = (list: typeof fields) =>
    list.map((field) => (
      <ConfigField
        key={field.name}
        field={field}
        value={values[field.name]}
        error={errors[field.name]}
        onChange={set(field.name)}
        self={self}
      />
    ))
  return (
    <EditForm className="mon-form" onSubmit={onSubmit}>
      <Paper withBorder p="md">
        <Stack gap="sm">
          <TextInput
            label={t.field.name!.label}
            required
            value={String(values.name)}
            error={errors.name}
            onChange={(event) => set('name')(event.currentTarget.value)}
          />
          {needsHost(kind) ? (
            <HostSelect
              value={values.host_id as string | null}
              error={errors.host_id ?? errors.host}
              onChange={set('host_id')}
            />
          ) : null}
          {show(fields.filter((field) => !field.seldom))}
          <OptionGroup
            title={t.groups.checks}
            summary={t.checksSummary(
              interval(Number(values.looptime)),
              Number(values.fail_threshold),
              severityText(String(values.failure_severity)),
            )}
            hasErrors={hasErrorIn(errors, namesOf(COMMON))}
          >
            <Group grow align="flex-start" className="mon-often">
              {show(COMMON)}
            </Group>
          </OptionGroup>
          {seldom.length ? (
            <OptionGroup
              title={t.more[kind] ?? t.more.other!}
              hasErrors={hasErrorIn(errors, namesOf(seldom))}
            >
              {show(seldom)}
            </OptionGroup>
          ) : null}
          <OptionGroup
            title={t.groups.about}
            summary={[String(values.description), ...(values.tags as string[])]
              .filter(Boolean)
              .join(' · ')}
            hasErrors={hasErrorIn(errors, ['tags', 'description'])}
          >
            <Textarea
              label={t.field.description!.label}
              autosize
              minRows={1}
              value={String(values.description)}
              onChange={(event) => set('description')(event.currentTarget.value)}
            />
            <TagsInput
              label={t.field.tags!.label}
              description={t.field.tags!.help}
              value={values.tags as string[]}
              error={errors.tags}
              onChange={set('tags')}
            />
          </OptionGroup>
          <OptionGroup title={t.groups.maintenance} hasErrors={hasErrorIn(errors, ['maintenance'])}>
            <MaintenanceWindows
              value={values.maintenance as MaintenanceWindow[]}
              onChange={set('maintenance')}
              errors={errors}
            />
          </OptionGroup>
          <NotifyChoice
            own={own}
            failure={{
              kind: 'monitor.failure',
              objectIds: [self, values.host_id].filter(
                (id): id is string => typeof id === 'string',
              ),
              tags: (values.tags as string[]) ?? [],
              severity: values.failure_severity ? String(values.failure_severity) : undefined,
            }}
          />
          {children}
        </Stack>
      </Paper>
    </EditForm>
  )
}

const namesOf = (fields: Field[]) => fields.map(({ name }) => name)

function HostSelect({
  value,
  error,
  onChange,
}: {
  value: string | null
  error?: string
  onChange: (value: string | null) => void
}) {
  const t = useKindText()
  const { data = [] } = useQuery(hostNamesQuery)
  return (
    <Select
      label={t.field.host_id!.label}
      description={t.field.host_id!.help}
      // Not natively required: before its choices are read it looks empty to the browser.
      withAsterisk
      searchable
      allowDeselect={false}
      error={error}
      limit={MAX_CHOICES}
      data={data.map((host) => ({ value: host.id, label: host.name }))}
      value={value}
      onChange={onChange}
    />
  )
}
