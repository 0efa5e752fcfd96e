import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { BellOff, Pause, Play, Trash2, Volume2, X } from 'lucide-react'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { useWords } from '../../../ui/text'
import { showSuccess } from '../../../ui/toast'
import { type MonitorAction, useMonitorActions } from '../actions'
import { DurationMenu } from '../DurationMenu'
import { useText } from '../text'

/** Actions on all selected monitors. */
export function MonitorBulkActions({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const t = useText()
  const w = useWords()
  const runAction = useMonitorActions()
  const [isConfirming, { open, close }] = useDisclosure()
  const run = async (action: MonitorAction, ms: number | null = null) => {
    close()
    const good = await runAction(action, ids, ms)
    if (good) showSuccess(t.doneFor(good))
    onDone()
  }
  return (
    <Group className="head mon-bulk" gap={8}>
      <Text size="sm" fw={600}>
        {t.selected(ids.length)}
      </Text>
      <DurationMenu
        label={t.mute}
        icon={<BellOff size={14} />}
        onPick={(ms) => void run('mute', ms)}
      />
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Volume2 size={14} />}
        onClick={() => void run('unmute')}
      >
        {t.unmute}
      </Button>
      <DurationMenu
        label={t.pause}
        icon={<Pause size={14} />}
        onPick={(ms) => void run('pause', ms)}
      />
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Play size={14} />}
        onClick={() => void run('resume')}
      >
        {t.resume}
      </Button>
      <Button size="compact-sm" variant="default" leftSection={<Trash2 size={14} />} onClick={open}>
        {w.delete}
      </Button>
      <ActionIcon ml="auto" aria-label={t.clear} onClick={onDone}>
        <X size={14} />
      </ActionIcon>
      <ConfirmDialog
        opened={isConfirming}
        title={t.deleteMany(ids.length)}
        action={w.delete}
        word={ids.length > 1 ? String(ids.length) : undefined}
        onClose={close}
        onConfirm={() => void run('delete')}
      >
        {t.deleteBody} {w.cannotUndo}
      </ConfirmDialog>
    </Group>
  )
}
