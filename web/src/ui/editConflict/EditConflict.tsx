import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { isStale } from '../../api/errors'
import { lastChangeQuery } from '../../api/queries/lastChange'
import { useCan } from '../../app/session'
import { Dialog } from '../form/Dialog'
import { showError } from '../toast'
import { useText } from './text'

interface Props {
  /** The changed object and its version; the audit log has the person. */
  object: string
  id: string
  version: number
  /** The error of the last save: after a conflict, the difference is shown at once. */
  error: Error | null
  onTake: () => void
  onKeep: () => void
  /** The difference. */
  children: ReactNode
}

/** Two people edit at once: names the first, and lets the second decide. No edit is lost. */
export function EditConflict({ object, id, version, error, onTake, onKeep, children }: Props) {
  const t = useText()
  const [opened, setOpened] = useState(false)
  const mayReadAudit = useCan()('audit.read')
  const { data: who } = useQuery({ ...lastChangeQuery(object, id, version), enabled: mayReadAudit })
  const isRefused = isStale(error)
  useEffect(() => {
    if (isRefused) setOpened(true)
  }, [isRefused])
  const title = t.changed(who || t.someoneElse)
  const choices = (
    <>
      <Button variant="default" onClick={onTake}>
        {t.theirs}
      </Button>
      <Button variant="default" onClick={onKeep}>
        {t.keep}
      </Button>
    </>
  )
  return (
    <>
      <Alert color="yellow" mb="sm" p="xs" role="status">
        <Group gap={8}>
          <Text size="sm" component="div">
            <strong>{title}</strong> {t.notSaved}
          </Text>
          <Group gap={8} ml="auto">
            <Button variant="default" onClick={() => setOpened(true)}>
              {t.show}
            </Button>
            {choices}
          </Group>
        </Group>
      </Alert>
      <Dialog opened={opened} size="xl" title={title} onClose={() => setOpened(false)}>
        <Stack gap="sm">
          {isRefused ? <Text size="sm">{t.refused}</Text> : null}
          {children}
          <Text size="sm" c="dimmed">
            {t.keepHelp}
          </Text>
          <Group justify="flex-end" gap={8}>
            {choices}
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}

/** Reports a failed save. After someone else's change the page also loads the record again. */
export function reportSaveError(error: Error, again: () => void): void {
  if (isStale(error)) {
    again()
    showError(new Error(useText.now().refused))
  } else showError(error)
}
