import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { AppLink } from '../AppLink'
import { useWords } from '../text'
import './formPage.css'

interface Props {
  /** Creates something: the button is named Create, otherwise Save. */
  isNew?: boolean
  busy: boolean
  disabled?: boolean
  /** Where the fields are not inside of a form. */
  onSubmit?: () => void
  /** The page that Cancel opens. */
  cancelTo?: string
  /** Other buttons, such as Delete at the end. */
  children?: ReactNode
}

/** The buttons of a form, always at its end and always visible: Create or Save, Cancel, others. */
export function FormActions({ isNew, busy, disabled, onSubmit, cancelTo, children }: Props) {
  const w = useWords()
  return (
    <div className="form-actions">
      <Button
        type={onSubmit ? 'button' : 'submit'}
        loading={busy}
        disabled={disabled}
        onClick={onSubmit}
      >
        {isNew ? w.create : w.save}
      </Button>
      {cancelTo ? (
        <Button component={AppLink} to={cancelTo} variant="default">
          {w.cancel}
        </Button>
      ) : null}
      {children}
    </div>
  )
}
