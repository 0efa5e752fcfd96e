import { Alert, Button, Group, PasswordInput, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Eye, EyeOff, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { useCan } from '../../../app/session'
import { ConfirmDialog } from '../../form/ConfirmDialog'
import { CopyField } from '../../form/CopyField'
import { showError, showSuccess } from '../../toast'
import { useText } from '../text'

type Kind = 'task' | 'workflow' | 'webhook'

const OVERLAPS = {
  '0': 'overlapNone',
  '3600': 'overlapHour',
  '86400': 'overlapDay',
  '604800': 'overlapWeek',
} as const

interface Props {
  kind: Kind
  id: string
  /** '' while it is hidden. */
  secret: string
  onSecret: (secret: string) => void
  /** Senders that choose the secret themselves; then it can be entered here. */
  chosenBy?: string | undefined
}

/** The secret key of a record: hidden until a permitted person requests it; it is changed here. */
export function SecretKey({ kind, id, secret, onSecret, chosenBy }: Props) {
  const t = useText()
  const may = useCan()('task.secret')
  const [asking, setAsking] = useState(false)
  const [overlap, setOverlap] = useState('0')
  const [own, setOwn] = useState('')
  const read = useMutation({
    mutationFn: () => readSecret(kind, id),
    onSuccess: (answer) => onSecret(answer.secret),
    onError: showError,
  })
  const rotate = useMutation({
    mutationFn: () =>
      changeSecret(kind, id, { overlap: Number(overlap), ...(own ? { secret: own } : {}) }),
    onSuccess: (answer) => {
      onSecret(answer.secret)
      setOwn('')
      setAsking(false)
      showSuccess(t.rotated)
    },
    onError: (fault) => byField(fault).secret === undefined && showError(fault),
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
      <ConfirmDialog
        opened={asking}
        title={t.rotateTitle}
        action={t.rotate}
        busy={rotate.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => rotate.mutate()}
      >
        <Stack gap="sm">
          {chosenBy ? t.ownBody(chosenBy) : t.rotateBody}
          {chosenBy ? (
            <PasswordInput
              label={t.own(chosenBy)}
              autoComplete="off"
              value={own}
              error={byField(rotate.error).secret}
              onChange={(event) => setOwn(event.currentTarget.value.trim())}
            />
          ) : null}
          <Select
            label={t.overlap}
            allowDeselect={false}
            value={overlap}
            onChange={(next) => setOverlap(next ?? '0')}
            data={Object.entries(OVERLAPS).map(([value, word]) => ({ value, label: t[word] }))}
          />
        </Stack>
      </ConfirmDialog>
    </>
  )
}

const PATHS = {
  task: '/task/{id}/credentials',
  workflow: '/workflows/{id}/credentials',
  webhook: '/webhook/{id}/credentials',
} as const

/** Reading it is audited. */
export function readSecret(kind: Kind, id: string) {
  return ok(api.GET(PATHS[kind], { params: { path: { id } } }))
}

function changeSecret(kind: Kind, id: string, body: { overlap: number; secret?: string }) {
  const path = `${PATHS[kind]}/rotate` as const
  return ok(api.POST(path, { params: { path: { id } }, body }))
}
