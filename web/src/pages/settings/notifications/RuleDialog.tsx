import {
  Group,
  MultiSelect,
  NumberInput,
  Select,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { byField } from '../../../api/errors'
import { channelsQuery, rulesQuery } from '../../../api/queries/notifications'
import { FormDialog } from '../../../ui/form/FormDialog'
import { severityText } from '../../../ui/monitoring/severityText'
import { useWords } from '../../../ui/text'
import { showError } from '../../../ui/toast'
import { useText } from './text'

type Rule = Shape<'RuleRecord'>
const KINDS = [
  'job.*',
  'job.finished',
  'job.lost',
  'job.expired',
  'monitor.*',
  'monitor.failure',
  'monitor.recovered',
  'monitor.file:restored',
  'indicator.*',
  'indicator.failed',
  'indicator.recovered',
  'host.*',
  'host.unreachable',
  'host.disk_full',
  'host.journal_refused',
  'host.journal_rolled_back',
  'schedule.*',
  'member.*',
  'token.*',
]

export function RuleDialog({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const { data: channels = [] } = useQuery(channelsQuery)
  const [form, setForm] = useState({
    name: rule?.name ?? '',
    enable: rule?.enable ?? true,
    channels: rule?.channels ?? [],
    kinds: rule?.kinds ?? [],
    states: rule?.states ?? [],
    tags: rule?.tags ?? [],
    severity: rule?.severity ?? 'LOW',
    group: rule?.group ?? 10,
    quiet: rule?.quiet ?? null,
  })
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change })
  const save = useMutation({
    mutationFn: () =>
      rule
        ? ok(api.PATCH('/notify/rule/{id}', { params: { path: { id: rule.id } }, body: form }))
        : ok(api.POST('/notify/rule', { body: form })),
    onError: showError,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: rulesQuery.queryKey })
      onClose()
    },
  })
  const faults = byField(save.error)
  const quiet = form.quiet
  return (
    <FormDialog
      onClose={onClose}
      title={rule?.name ?? t.newRule}
      size="lg"
      action={rule ? w.save : w.create}
      busy={save.isPending}
      onSubmit={() => save.mutate()}
    >
      <TextInput
        data-autofocus
        required
        label={w.name}
        value={form.name}
        error={faults.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <MultiSelect
        required
        label={t.toChannels}
        error={faults.channels}
        data={channels.map((channel) => ({ value: channel.id, label: channel.name }))}
        value={form.channels}
        onChange={(next) => set({ channels: next })}
      />
      <TagsInput
        label={t.kinds}
        description={t.kindsHelp}
        data={KINDS}
        value={form.kinds}
        error={faults.kinds}
        onChange={(kinds) => set({ kinds })}
      />
      <Group grow align="flex-start">
        <TagsInput
          label={t.tags}
          description={t.tagsHelp}
          value={form.tags}
          onChange={(tags) => set({ tags })}
        />
        <TagsInput
          label={t.states}
          description={t.tagsHelp}
          data={['failure', 'success', 'timeout', 'error', 'normal']}
          value={form.states}
          onChange={(states) => set({ states })}
        />
      </Group>
      <Group grow>
        <Select
          label={t.severity}
          allowDeselect={false}
          data={['LOW', 'HIGH', 'CRITICAL'].map((value) => ({
            value,
            label: severityText(value),
          }))}
          value={form.severity}
          onChange={(severity) => set({ severity: severity ?? 'LOW' })}
        />
        <NumberInput
          label={t.group}
          min={0}
          max={3600}
          value={form.group}
          onChange={(group) => set({ group: Number(group) || 0 })}
        />
      </Group>
      <Switch
        label={t.quiet}
        checked={quiet !== null}
        onChange={(event) =>
          set({
            quiet: event.currentTarget.checked
              ? {
                  from: '22:00',
                  to: '07:00',
                  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
                  but_critical: true,
                }
              : null,
          })
        }
      />
      {quiet ? (
        <>
          <Group grow>
            <TextInput
              label={t.quietFrom}
              type="time"
              value={quiet.from}
              onChange={(event) => set({ quiet: { ...quiet, from: event.currentTarget.value } })}
            />
            <TextInput
              label={t.quietTo}
              type="time"
              value={quiet.to}
              onChange={(event) => set({ quiet: { ...quiet, to: event.currentTarget.value } })}
            />
            <Select
              label={t.zone}
              searchable
              data={Intl.supportedValuesOf('timeZone')}
              value={quiet.zone}
              onChange={(zone) => zone && set({ quiet: { ...quiet, zone } })}
            />
          </Group>
          <Switch
            label={t.butCritical}
            checked={quiet.but_critical}
            onChange={(event) =>
              set({ quiet: { ...quiet, but_critical: event.currentTarget.checked } })
            }
          />
        </>
      ) : null}
      <Switch
        label={t.enabled}
        checked={form.enable}
        onChange={(event) => set({ enable: event.currentTarget.checked })}
      />
    </FormDialog>
  )
}
