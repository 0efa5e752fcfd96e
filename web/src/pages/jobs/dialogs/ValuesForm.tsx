import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { byField } from '../../../api/errors'
import { ArgumentForm } from '../../../ui/arguments/ArgumentForm'
import { type Argument, faultsOf, firstValues } from '../../../ui/arguments/values'
import { Form } from '../../../ui/form/Form'
import { useWords } from '../../../ui/text'

interface Props {
  title: string
  definitions: Argument[]
  before: unknown[]
  action: string
  busy: boolean
  fault: unknown
  onSend: (values: unknown[]) => void
  onClose: () => void
  children?: ReactNode
}

/** Asks for the values of a job's arguments; Ctrl+Enter sends. */
export function ValuesForm(props: Props) {
  const { definitions, before, onSend } = props
  const w = useWords()
  const [values, setValues] = useState(() => firstValues(definitions, before))
  const [faults, setFaults] = useState<Record<string, string>>({})
  const send = () => {
    const faults = faultsOf(definitions, values)
    setFaults(faults)
    if (Object.keys(faults).length === 0) onSend(values)
  }
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={props.title}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <Form
        onSubmit={() => send()}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
        }}
      >
        <Stack gap="md">
          {props.children}
          <ArgumentForm
            arguments={definitions}
            value={values}
            onChange={setValues}
            errors={{ ...byField(props.fault), ...faults }}
          />
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={props.onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" loading={props.busy}>
              {props.action}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Modal>
  )
}
