import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { Eye, RotateCw } from 'lucide-react'
import { api, ok } from '../../../api/client'
import type { Monitor } from '../../../api/queries/monitoring/monitor'
import { useCan } from '../../../app/session'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { CopyField } from '../../../ui/form/CopyField'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

/** The secret URL: shown on request only, since each reading is audited. */
export function PushUrl({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const may = useCan()('monitor.edit')
  const [isConfirming, { open, close }] = useDisclosure()
  const path = { params: { path: { id: monitor.id } } }
  const read = useMutation({
    mutationFn: () => ok(api.GET('/monitor/{id}/credentials', path)),
    onError: showError,
  })
  const rotate = useMutation({
    mutationFn: () => ok(api.POST('/monitor/{id}/credentials/rotate', { ...path, body: {} })),
    onSuccess: () => {
      showSuccess(t.rotated)
      close()
      read.mutate()
    },
    onError: showError,
  })
  if (!may) return null
  return (
    <Paper withBorder p="md" maw={720}>
      <Stack gap={8}>
        <Title order={2} size="h6">
          {t.pushUrl}
        </Title>
        <Text size="sm" c="dimmed">
          {t.pushHelp}
        </Text>
        {read.data ? (
          <>
            <CopyField value={read.data.url} label={t.pushUrl} />
            <Text size="xs" c="dimmed">
              {t.example}: <Code>curl -fsS {read.data.url}</Code>
            </Text>
          </>
        ) : null}
        <Group gap={8}>
          {read.data ? null : (
            <Button
              variant="default"
              leftSection={<Eye size={14} />}
              loading={read.isPending}
              onClick={() => read.mutate()}
            >
              {t.pushShow}
            </Button>
          )}
          <Button variant="default" leftSection={<RotateCw size={14} />} onClick={open}>
            {t.rotate}
          </Button>
        </Group>
      </Stack>
      <ConfirmDialog
        opened={isConfirming}
        title={t.rotate}
        action={t.rotate}
        busy={rotate.isPending}
        onClose={close}
        onConfirm={() => rotate.mutate()}
      >
        {t.rotateBody}
      </ConfirmDialog>
    </Paper>
  )
}
