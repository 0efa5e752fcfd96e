import { Alert, Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Trash2 } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { byField } from '../../api/errors'
import { useKeys } from '../../app/keys'
import { useWords } from '../text'
import { showError } from '../toast'
import { ConfirmDialog } from './ConfirmDialog'
import { Form } from './Form'

interface Props {
  className?: string
  onSubmit: () => void
  children: ReactNode
}

/** A form that Ctrl+S and Ctrl+Enter send too. */
export function EditForm({ className, onSubmit, children }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const send = () => form.current?.requestSubmit()
  useKeys({ 'mod+s': send, 'mod+Enter': send })
  return (
    <Form ref={form} className={className} onSubmit={() => onSubmit()}>
      {children}
    </Form>
  )
}

/** Someone else saved first: the edits stay until the reader reloads. */
export function StaleNotice({ maw, onReload }: { maw: number; onReload: () => void }) {
  const w = useWords()
  return (
    <Alert color="yellow" maw={maw}>
      <Group>
        {w.stale}
        <Button variant="default" onClick={onReload}>
          {w.reload}
        </Button>
      </Group>
    </Alert>
  )
}

/** The server's error message, if it belongs to no field. */
export function FormError({ error }: { error: Error | null }) {
  if (!error || Object.keys(byField(error)).length) return null
  return (
    <Text c="red.9" size="sm" role="alert">
      {error.message}
    </Text>
  )
}

interface DeleteProps {
  name: string
  /** Why it cannot be deleted now. */
  refusal?: string
  /** The text that has to be entered first if much is deleted. */
  word?: string
  onDelete: () => Promise<unknown>
  children?: ReactNode
}

/** At the end of a form: deletes the object after a confirmation. */
export function DeleteButton({ name, refusal, word, onDelete, children }: DeleteProps) {
  const w = useWords()
  const [isConfirming, { open, close }] = useDisclosure()
  const [isBusy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    await onDelete().catch(showError)
    setBusy(false)
    close()
  }
  return (
    <>
      <Button
        variant="default"
        ml="auto"
        leftSection={<Trash2 size={14} />}
        onClick={open}
        disabled={!!refusal}
        title={refusal}
      >
        {w.delete}
      </Button>
      <ConfirmDialog
        opened={isConfirming}
        title={w.reallyDelete(name)}
        word={word}
        action={w.delete}
        busy={isBusy}
        onClose={close}
        onConfirm={() => void confirm()}
      >
        {children}
      </ConfirmDialog>
    </>
  )
}
