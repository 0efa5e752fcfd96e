// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { renderInConsole } from '../../../../tests/unit/render'
import { ConfirmDialog } from '../ConfirmDialog'

function open(word?: string) {
  const onConfirm = vi.fn()
  const onClose = vi.fn()
  renderInConsole(
    <ConfirmDialog
      opened
      title="Delete web-1?"
      action="Delete"
      word={word}
      onClose={onClose}
      onConfirm={onConfirm}
    />,
  )
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Delete' })
  return { onConfirm, onClose, button, form: button.closest('form')! }
}

test('the button confirms, and the default text warns', () => {
  const { onConfirm, form } = open()
  expect(screen.getByText('This cannot be undone.')).toBeTruthy()
  fireEvent.submit(form)
  expect(onConfirm).toHaveBeenCalledOnce()
})

test('cancelling closes without confirming', () => {
  const { onConfirm, onClose } = open()
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(onClose).toHaveBeenCalledOnce()
  expect(onConfirm).not.toHaveBeenCalled()
})

test('a word that has to be typed keeps the button disabled, and Enter does not confirm', () => {
  const { onConfirm, button, form } = open('web-1')
  const field = screen.getByLabelText('Type web-1 to confirm')
  fireEvent.change(field, { target: { value: 'web-' } })
  expect(button.disabled).toBe(true)
  fireEvent.submit(form)
  expect(onConfirm).not.toHaveBeenCalled()
  fireEvent.change(field, { target: { value: 'web-1' } })
  expect(button.disabled).toBe(false)
  fireEvent.submit(form)
  expect(onConfirm).toHaveBeenCalledOnce()
})
