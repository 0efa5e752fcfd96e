import { type ReactNode, useState } from 'react'
import { byField } from '../../../api/errors'
import { ArgumentForm } from '../../../ui/arguments/ArgumentForm'
import { type Argument, faultsOf, firstValues } from '../../../ui/arguments/values'
import { FormDialog } from '../../../ui/form/FormDialog'

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
  const [values, setValues] = useState(() => firstValues(definitions, before))
  const [faults, setFaults] = useState<Record<string, string>>({})
  const send = () => {
    const faults = faultsOf(definitions, values)
    setFaults(faults)
    if (Object.keys(faults).length === 0) onSend(values)
  }
  return (
    <FormDialog
      title={props.title}
      action={props.action}
      busy={props.busy}
      onClose={props.onClose}
      onSubmit={send}
    >
      {props.children}
      <ArgumentForm
        arguments={definitions}
        value={values}
        onChange={setValues}
        errors={{ ...byField(props.fault), ...faults }}
      />
    </FormDialog>
  )
}
