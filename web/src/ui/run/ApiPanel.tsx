import { Alert, Button, Group, Select, Stack, Tabs, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Eye, EyeOff, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../api/client'
import { useCan } from '../../app/session'
import { firstValues, toShow } from '../arguments/values'
import { Confirm } from '../Confirm'
import { CopyField } from '../CopyField'
import { Loaded } from '../Loaded'
import { done, failed } from '../toast'
import { CallText } from './CallText'
import { curlCall, htmlForm, type Key, pythonCall } from './calls'
import { type Runnable, runnableQuery, type Target } from './target'
import { useText } from './text'

/** Ready calls that run a task or a workflow: with a token, and with its secret key. */
export function ApiPanel({ target }: { target: Target }) {
  const t = useText()
  const query = useQuery(runnableQuery(target))
  return (
    <Loaded query={query}>
      {(found) => (
        <Tabs defaultValue="token" keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="token">{t.tokenTab}</Tabs.Tab>
            <Tabs.Tab value="secret">{t.secretTab}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="token" pt="sm">
            <Calls target={target} found={found} access={{ token: true }} note={t.tokenBody} />
          </Tabs.Panel>
          <Tabs.Panel value="secret" pt="sm">
            <BySecret target={target} found={found} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Loaded>
  )
}

interface CallsProps {
  target: Target
  found: Runnable
  access: Key
  note: string
}

function Calls({ target, found, access, note }: CallsProps) {
  const t = useText()
  const definitions = found.arguments ?? []
  const values = toShow(definitions, firstValues(definitions))
  return (
    <Stack gap="sm">
      <Text size="sm">{note}</Text>
      <Titled label={t.curl} text={curlCall(target, access, values)} />
      {'secret' in access ? (
        <Titled label={t.html} text={htmlForm(target, access.secret, definitions)} />
      ) : null}
      <Titled label={t.python} text={pythonCall(target, access, values)} />
      <Text size="xs" c="dimmed">
        {t.waiting}
      </Text>
    </Stack>
  )
}

function Titled({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4} component="h3">
        {label}
      </Text>
      <CallText text={text} label={label} />
    </div>
  )
}

function BySecret({ target, found }: { target: Target; found: Runnable }) {
  const t = useText()
  const [secret, setSecret] = useState('')
  const mayRead = useCan()('task.secret')
  return (
    <Stack gap="sm">
      <SecretKey target={target} secret={secret} onSecret={setSecret} />
      <Calls
        target={target}
        found={found}
        access={{ secret: secret || (mayRead ? '••••••••' : 'KEY') }}
        note={t.secretBody}
      />
    </Stack>
  )
}

const OVERLAPS = {
  '0': 'overlapNone',
  '3600': 'overlapHour',
  '86400': 'overlapDay',
  '604800': 'overlapWeek',
} as const

function SecretKey({
  target,
  secret,
  onSecret,
}: {
  target: Target
  secret: string
  onSecret: (secret: string) => void
}) {
  const t = useText()
  const may = useCan()('task.secret')
  const [asking, setAsking] = useState(false)
  const [overlap, setOverlap] = useState('0')
  const read = useMutation({
    mutationFn: () => readSecret(target),
    onSuccess: (found) => onSecret(found.secret),
    onError: failed,
  })
  const rotate = useMutation({
    mutationFn: () => changeSecret(target, Number(overlap)),
    onSuccess: (found) => {
      onSecret(found.secret)
      setAsking(false)
      done(t.rotated)
    },
    onError: failed,
  })
  if (!may) return <Alert color="gray">{t.adminsOnly}</Alert>
  return (
    <>
      {secret ? <CopyField value={secret} label={t.secret} /> : null}
      <Group gap={8}>
        <Button
          variant="default"
          leftSection={secret ? <EyeOff size={14} /> : <Eye size={14} />}
          loading={read.isPending}
          onClick={() => (secret ? onSecret('') : read.mutate())}
        >
          {secret ? t.hideSecret : t.showSecret}
        </Button>
        <Button
          variant="default"
          leftSection={<RefreshCw size={14} />}
          onClick={() => setAsking(true)}
        >
          {t.rotate}
        </Button>
        <Text size="xs" c="dimmed">
          {t.readIsAudited}
        </Text>
      </Group>
      <Confirm
        opened={asking}
        title={t.rotateTitle}
        action={t.rotate}
        busy={rotate.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => rotate.mutate()}
      >
        <Stack gap="sm">
          {t.rotateBody}
          <Select
            label={t.overlap}
            allowDeselect={false}
            value={overlap}
            onChange={(next) => setOverlap(next ?? '0')}
            data={Object.entries(OVERLAPS).map(([value, word]) => ({ value, label: t[word] }))}
          />
        </Stack>
      </Confirm>
    </>
  )
}

function readSecret({ kind, id }: Target) {
  const params = { path: { id } }
  return kind === 'task'
    ? ok(api.GET('/task/{id}/credentials', { params }))
    : ok(api.GET('/workflows/{id}/credentials', { params }))
}

function changeSecret({ kind, id }: Target, overlap: number) {
  const asked = { params: { path: { id } }, body: { overlap } }
  return kind === 'task'
    ? ok(api.POST('/task/{id}/credentials/rotate', asked))
    : ok(api.POST('/workflows/{id}/credentials/rotate', asked))
}
