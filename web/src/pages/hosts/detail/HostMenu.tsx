import { ActionIcon, Alert, Menu, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import {
  Ban,
  Ellipsis,
  KeyRound,
  Pencil,
  PlugZap,
  Tags,
  Timer,
  Trash2,
  TriangleAlert,
} from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { ApiError, byField } from '../../../api/errors'
import type { HostLine } from '../../../api/queries/monitoring/host'
import { useAppNavigate } from '../../../ui/AppLink'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { Dialog } from '../../../ui/form/Dialog'
import { FormDialog } from '../../../ui/form/FormDialog'
import { InstallLine } from '../../../ui/hosts/InstallLine'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

type MenuHost = Pick<
  HostLine,
  'id' | 'hostname' | 'state' | 'tags' | 'enable' | 'draining' | 'version'
>
type Change = Shape<'HostChange'>

function useChange(host: MenuHost, onDone: () => void) {
  const t = useText()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: Change) =>
      ok(
        api.PATCH('/host/{id}', {
          params: { path: { id: host.id } },
          body,
          headers: { 'If-Match': String(host.version) },
        }),
      ),
    onSuccess: () => {
      showSuccess(t.changed)
      onDone()
    },
    onError: (fault) => {
      if (!(fault instanceof ApiError) || fault.faults.length === 0) showError(fault)
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ['host'] }),
  })
}

/** Everything that can be done to one host. */
export function HostMenu({ host, away }: { host: MenuHost; away?: boolean }) {
  const t = useText()
  const w = useWords()
  const [dialog, setDialog] = useState<'rename' | 'tags' | 'token' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const change = useChange(host, close)
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={t.menu(host.hostname)}>
            <Ellipsis size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Pencil size={14} />} onClick={() => setDialog('rename')}>
            {t.rename}
          </Menu.Item>
          <Menu.Item leftSection={<Tags size={14} />} onClick={() => setDialog('tags')}>
            {t.editTags}
          </Menu.Item>
          <Menu.Item
            leftSection={<Timer size={14} />}
            onClick={() => change.mutate({ draining: !host.draining })}
          >
            {host.draining ? t.undrain : t.drain}
          </Menu.Item>
          <Menu.Item
            leftSection={host.enable ? <Ban size={14} /> : <PlugZap size={14} />}
            onClick={() => change.mutate({ enable: !host.enable })}
          >
            {host.enable ? t.disable : t.enable}
          </Menu.Item>
          <Menu.Item leftSection={<KeyRound size={14} />} onClick={() => setDialog('token')}>
            {t.createToken}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<Trash2 size={14} />} onClick={() => setDialog('delete')}>
            {w.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'rename' || dialog === 'tags' ? (
        <EditDialog
          field={dialog}
          host={host}
          onClose={close}
          busy={change.isPending}
          error={byField(change.error)[dialog === 'tags' ? 'tags' : 'hostname']}
          onSave={(body) => change.mutate(body)}
        />
      ) : null}
      {dialog === 'token' ? <HostToken host={host} onClose={close} /> : null}
      <Delete host={host} opened={dialog === 'delete'} onClose={close} away={away} />
    </>
  )
}

/** A token that binds this host to another agent, with the line for its machine. */
function HostToken({ host, onClose }: { host: MenuHost; onClose: () => void }) {
  const t = useText()
  return (
    <Dialog opened onClose={onClose} title={`${host.hostname}: ${t.createToken}`}>
      <Stack gap="sm">
        <Text size="sm">{t.createTokenBody}</Text>
        {host.state === 'online' || host.state === 'draining' ? (
          <Alert color="yellow" icon={<TriangleAlert size={16} />}>
            {t.stopAgentFirst(host.hostname)}
          </Alert>
        ) : null}
        <InstallLine hostId={host.id} />
      </Stack>
    </Dialog>
  )
}

interface EditDialogProps {
  field: 'rename' | 'tags'
  host: MenuHost
  busy: boolean
  error?: string
  onClose: () => void
  onSave: (change: Change) => void
}

function EditDialog({ field, host, busy, error, onClose, onSave }: EditDialogProps) {
  const t = useText()
  const w = useWords()
  const [hostname, setHostname] = useState(host.hostname)
  const [tags, setTags] = useState(host.tags)
  return (
    <FormDialog
      title={`${host.hostname}: ${field === 'tags' ? t.editTags : t.rename}`}
      action={w.save}
      busy={busy}
      onClose={onClose}
      onSubmit={() => onSave(field === 'tags' ? { tags } : { hostname })}
    >
      {field === 'tags' ? (
        <TagsInput
          data-autofocus
          label={t.editTags}
          description={t.tagsHelp}
          value={tags}
          onChange={setTags}
          error={error}
        />
      ) : (
        <TextInput
          data-autofocus
          required
          label={t.newName}
          value={hostname}
          onChange={(event) => setHostname(event.currentTarget.value)}
          error={error}
        />
      )}
    </FormDialog>
  )
}

interface DeleteProps {
  host: MenuHost
  opened: boolean
  onClose: () => void
  away?: boolean
}

function Delete({ host, opened, onClose, away }: DeleteProps) {
  const t = useText()
  const w = useWords()
  const go = useAppNavigate()
  const client = useQueryClient()
  const remove = useMutation({
    mutationFn: () => ok(api.DELETE('/host/{id}', { params: { path: { id: host.id } } })),
    onSuccess: () => {
      showSuccess(t.deleted(host.hostname))
      onClose()
      if (away) go('/hosts')
      void client.invalidateQueries({ queryKey: ['host'] })
    },
    onError: showError,
  })
  return (
    <ConfirmDialog
      opened={opened}
      title={w.reallyDelete(host.hostname)}
      word={host.hostname}
      action={w.delete}
      busy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate()}
    >
      {t.deleteBody} {w.cannotUndo}
    </ConfirmDialog>
  )
}
