import { Badge, Button, Switch, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Megaphone, Plus, Send } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { byField } from '../../../api/errors'
import { channelsQuery } from '../../../api/queries/notifications'
import { EditMenu } from '../../../ui/form/EditMenu'
import { FormDialog } from '../../../ui/form/FormDialog'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { useWords } from '../../../ui/text'
import { showError } from '../../../ui/toast'
import { ChannelWizard } from './ChannelWizard'
import { TestResult } from './TestResult'
import { useText } from './text'

type Channel = Shape<'ChannelRecord'>

export function Channels() {
  const t = useText()
  const channels = useQuery(channelsQuery)
  const [editing, setEditing] = useState<Channel | 'new' | null>(null)
  return (
    <Section
      title={t.channels}
      aside={t.channelsHelp}
      right={
        <Button leftSection={<Plus size={14} />} onClick={() => setEditing('new')}>
          {t.newChannel}
        </Button>
      }
    >
      <QueryResult query={channels} lines={2}>
        {(all) =>
          all.length ? (
            <div role="list">
              {all.map((channel) => (
                <ChannelRow key={channel.id} channel={channel} onEdit={() => setEditing(channel)} />
              ))}
            </div>
          ) : (
            <EmptyState icon={Megaphone} title={t.noChannels}>
              {t.noChannelsBody}
            </EmptyState>
          )
        }
      </QueryResult>
      {editing === 'new' ? <ChannelWizard onClose={() => setEditing(null)} /> : null}
      {editing && editing !== 'new' ? (
        <ChannelDialog channel={editing} onClose={() => setEditing(null)} />
      ) : null}
    </Section>
  )
}

function ChannelRow({ channel, onEdit }: { channel: Channel; onEdit: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const params = { path: { id: channel.id } }
  const test = useMutation({
    mutationFn: () => ok(api.POST('/notify/channel/{id}/test', { params })),
    onError: showError,
    onSettled: () => client.invalidateQueries({ queryKey: ['message'] }),
  })
  return (
    <div role="listitem" className="row settings-session">
      <div className="clip">
        <Text size="sm" fw={550} className="clip">
          {channel.name} {channel.enable ? null : <Badge size="xs">{t.off}</Badge>}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {channel.service} · <code>{channel.url}</code>
        </Text>
      </div>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<Send size={12} />}
        loading={test.isPending}
        onClick={() => test.mutate()}
      >
        {t.test}
      </Button>
      <EditMenu
        name={channel.name}
        onEdit={onEdit}
        remove={() => ok(api.DELETE('/notify/channel/{id}', { params }))}
        queryKey={channelsQuery.queryKey}
      />
      {test.data && !test.isPending ? <TestResult name={channel.name} message={test.data} /> : null}
    </div>
  )
}

function ChannelDialog({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const [name, setName] = useState(channel.name)
  const [url, setUrl] = useState('')
  const [enable, setEnable] = useState(channel.enable)
  const save = useMutation({
    mutationFn: () => {
      const body = { name, enable, ...(url ? { url } : {}) }
      return ok(api.PATCH('/notify/channel/{id}', { params: { path: { id: channel.id } }, body }))
    },
    onError: showError,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: channelsQuery.queryKey })
      onClose()
    },
  })
  const faults = byField(save.error)
  return (
    <FormDialog
      onClose={onClose}
      title={channel.name}
      size="lg"
      action={w.save}
      busy={save.isPending}
      onSubmit={() => save.mutate()}
    >
      <TextInput
        data-autofocus
        required
        label={w.name}
        value={name}
        error={faults.name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={t.url}
        description={t.urlHelp}
        placeholder={t.keepUrl}
        autoComplete="off"
        value={url}
        error={faults.url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <Switch
        label={t.enabled}
        checked={enable}
        onChange={(event) => setEnable(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}
