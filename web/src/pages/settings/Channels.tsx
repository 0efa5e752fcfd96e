import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Menu,
  Modal,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ellipsis, Megaphone, Plus, Send } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { byField } from '../../api/errors'
import { channelsQuery } from '../../api/queries/notify'
import { Confirm } from '../../ui/Confirm'
import { Empty } from '../../ui/Empty'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Section'
import { useWords } from '../../ui/text'
import { done, failed } from '../../ui/toast'
import { useText } from './notifyText'

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
      <Loaded query={channels} lines={2}>
        {(all) =>
          all.length ? (
            <div role="list">
              {all.map((one) => (
                <ChannelRow key={one.id} channel={one} onEdit={() => setEditing(one)} />
              ))}
            </div>
          ) : (
            <Empty icon={Megaphone} title={t.noChannels}>
              {t.noChannelsBody}
            </Empty>
          )
        }
      </Loaded>
      {editing ? (
        <ChannelDialog
          channel={editing === 'new' ? null : editing}
          onClose={() => setEditing(null)}
        />
      ) : null}
    </Section>
  )
}

function ChannelRow({ channel, onEdit }: { channel: Channel; onEdit: () => void }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const [leaving, setLeaving] = useState(false)
  const params = { path: { id: channel.id } }
  const test = useMutation({
    mutationFn: () => ok(api.POST('/notify/channel/{id}/test', { params })),
    onError: failed,
    onSuccess: () => done(t.testSent),
    onSettled: () => client.invalidateQueries({ queryKey: ['message'] }),
  })
  const drop = useMutation({
    mutationFn: () => ok(api.DELETE('/notify/channel/{id}', { params })),
    onError: failed,
    onSettled: () => {
      setLeaving(false)
      void client.invalidateQueries({ queryKey: channelsQuery.queryKey })
    },
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
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={`${w.actions}: ${channel.name}`}>
            <Ellipsis size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onEdit}>{w.edit}</Menu.Item>
          <Menu.Item color="red" onClick={() => setLeaving(true)}>
            {w.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={leaving}
        title={w.reallyDelete(channel.name)}
        action={w.delete}
        busy={drop.isPending}
        onClose={() => setLeaving(false)}
        onConfirm={drop.mutate}
      />
    </div>
  )
}

function ChannelDialog({ channel, onClose }: { channel: Channel | null; onClose: () => void }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const [name, setName] = useState(channel?.name ?? '')
  const [url, setUrl] = useState('')
  const [enable, setEnable] = useState(channel?.enable ?? true)
  const save = useMutation({
    mutationFn: () => {
      const body = { name, enable, ...(url ? { url } : {}) }
      return channel
        ? ok(api.PATCH('/notify/channel/{id}', { params: { path: { id: channel.id } }, body }))
        : ok(api.POST('/notify/channel', { body }))
    },
    onError: failed,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: channelsQuery.queryKey })
      onClose()
    },
  })
  const faults = byField(save.error)
  return (
    <Modal
      opened
      onClose={onClose}
      title={channel?.name ?? t.newChannel}
      size="lg"
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Stack gap="sm">
          <TextInput
            data-autofocus
            required
            label={w.name}
            value={name}
            error={faults.name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            required={!channel}
            label={t.url}
            description={t.urlHelp}
            placeholder={channel ? t.keepUrl : ''}
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
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {w.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
