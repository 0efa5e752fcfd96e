import {
  Button,
  Collapse,
  Group,
  Paper,
  Select,
  Stack,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { hostNamesQuery } from '../../../api/queries/monitoring/host'
import { EditForm } from '../../../ui/form/EditForm'
import { NotifiedBy } from '../../../ui/notify/NotifiedBy'
import { ConfigField } from './ConfigField'
import { COMMON, fieldsOf, needsHost, type Values } from './kinds'
import { useKindText } from './kindText'
import { type MaintenanceWindow, MaintenanceWindows } from './MaintenanceWindows'

interface Props {
  kind: string
  values: Values
  errors: Record<string, string>
  onChange: (values: Values) => void
  onSubmit: () => void
  self?: string
  /** Buttons at the end. */
  children: ReactNode
}

/** Everything that a monitor of a kind can be told; what is seldom wanted is folded away. */
export function MonitorForm({ kind, values, errors, onChange, onSubmit, self, children }: Props) {
  const t = useKindText()
  const fields = fieldsOf(kind)
  const seldom = fields.filter((field) => field.seldom)
  // A field that the server refused must be seen.
  const isNeeded = seldom.some((field) => errors[field.name])
  const [opened, { toggle }] = useDisclosure(false)
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
          <Group grow align="flex-start" className="mon-often">
            {show(COMMON)}
          </Group>
          {seldom.length ? (
            <>
              <Group>
                <Button
                  variant="subtle"
                  size="compact-sm"
                  onClick={toggle}
                  aria-expanded={opened || isNeeded}
                >
                  {opened || isNeeded ? t.fewer : t.more}
                </Button>
              </Group>
              <Collapse expanded={opened || isNeeded}>
                <Stack gap="sm">{show(seldom)}</Stack>
              </Collapse>
            </>
          ) : null}
          <TagsInput
            label={t.field.tags!.label}
            description={t.field.tags!.help}
            value={values.tags as string[]}
            error={errors.tags}
            onChange={set('tags')}
          />
          <Textarea
            label={t.field.description!.label}
            autosize
            minRows={1}
            value={String(values.description)}
            onChange={(event) => set('description')(event.currentTarget.value)}
          />
          <MaintenanceWindows
            value={values.maintenance as MaintenanceWindow[]}
            onChange={set('maintenance')}
            errors={errors}
          />
          <NotifiedBy
            failure={{
              kind: 'monitor.failure',
              objectIds: [self, values.host_id].filter(
                (id): id is string => typeof id === 'string',
              ),
              tags: (values.tags as string[]) ?? [],
              severity: values.failure_severity ? String(values.failure_severity) : undefined,
            }}
          />
          <Group gap={8}>{children}</Group>
        </Stack>
      </Paper>
    </EditForm>
  )
}

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
      data={data.map((host) => ({ value: host.id, label: host.hostname }))}
      value={value}
      onChange={onChange}
    />
  )
}
