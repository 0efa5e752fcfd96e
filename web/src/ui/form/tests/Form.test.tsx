// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { renderInConsole } from '../../../../tests/unit/render'
import { EditForm } from '../EditForm'
import { FormDialog } from '../FormDialog'

function open() {
  const onSave = vi.fn()
  const onAdd = vi.fn()
  renderInConsole(
    <EditForm onSubmit={onSave}>
      <button type="submit">Save</button>
      <FormDialog title="Argument" action="Add" onClose={() => {}} onSubmit={onAdd}>
        {null}
      </FormDialog>
    </EditForm>,
  )
  return { onSave, onAdd }
}

test('a dialog does not send the form behind it', () => {
  const { onSave, onAdd } = open()
  fireEvent.submit(screen.getByRole('button', { name: 'Add' }).closest('form')!)
  expect(onAdd).toHaveBeenCalledOnce()
  expect(onSave).not.toHaveBeenCalled()
})

test('a form is sent by its own button', () => {
  const { onSave } = open()
  fireEvent.submit(screen.getByText('Save').closest('form')!)
  expect(onSave).toHaveBeenCalledOnce()
})
