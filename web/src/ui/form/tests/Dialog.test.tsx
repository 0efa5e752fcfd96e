// @vitest-environment happy-dom
import { fireEvent } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { field, press, renderInConsole } from '../../../../tests/unit/render'
import { type Keys, useKeys } from '../../../app/keys'
import { Dialog } from '../Dialog'
import { EditForm } from '../EditForm'
import { FormDialog } from '../FormDialog'

function Bind({ keys, isGlobal }: { keys: Keys; isGlobal?: boolean }) {
  useKeys(keys, isGlobal)
  return null
}

test.each(['s', 'Enter'])('Ctrl+%s in a dialog sends the dialog, not the form behind it', (key) => {
  const sendForm = vi.fn()
  const sendDialog = vi.fn()
  const view = (opened: boolean) => (
    <EditForm onSubmit={sendForm}>
      <FormDialog
        opened={opened}
        title="Pause"
        action="Pause schedule"
        onClose={() => {}}
        onSubmit={sendDialog}
      >
        <input aria-label="Note" />
      </FormDialog>
    </EditForm>
  )
  const { rerender } = renderInConsole(view(false))
  rerender(view(true))
  fireEvent.keyDown(field('Note'), { key, ctrlKey: true })
  press(key, { ctrlKey: true })
  expect(sendDialog).toHaveBeenCalledTimes(2)
  expect(sendForm).not.toHaveBeenCalled()
  rerender(view(false))
  press(key, { ctrlKey: true })
  expect(sendForm).toHaveBeenCalledOnce()
  expect(sendDialog).toHaveBeenCalledTimes(2)
})

test('the newest dialog handles keys, and the one below it when that closes', () => {
  const actions = { page: vi.fn(), first: vi.fn(), second: vi.fn() }
  const view = (opened: boolean) => (
    <>
      <Bind keys={{ 'mod+s': actions.page, r: actions.page }} />
      <Dialog opened onClose={() => {}}>
        <Bind keys={{ 'mod+s': actions.first }} />
        <Dialog opened={opened} onClose={() => {}}>
          <Bind keys={{ 'mod+s': actions.second }} />
        </Dialog>
      </Dialog>
    </>
  )
  const { rerender } = renderInConsole(view(false))
  rerender(view(true))
  press('s', { ctrlKey: true })
  expect(actions.second).toHaveBeenCalledOnce()
  expect(actions.first).not.toHaveBeenCalled()
  rerender(view(false))
  press('s', { ctrlKey: true })
  press('r')
  expect(actions.first).toHaveBeenCalledOnce()
  expect(actions.second).toHaveBeenCalledOnce()
  expect(actions.page).not.toHaveBeenCalled()
})

test('a global key works behind a dialog that does not use it', () => {
  const openPalette = vi.fn()
  renderInConsole(
    <>
      <Bind keys={{ 'mod+k': openPalette }} isGlobal />
      <Dialog opened onClose={() => {}}>
        text
      </Dialog>
    </>,
  )
  press('k', { ctrlKey: true })
  expect(openPalette).toHaveBeenCalledOnce()
})

test.each([{}, { shiftKey: true }])('Ctrl+Z in a text field is left to the field: %o', (shift) => {
  const undo = vi.fn()
  renderInConsole(
    <>
      <Bind keys={{ 'mod+z': undo, 'mod+Shift+z': undo }} />
      <input aria-label="Name" />
    </>,
  )
  const isUnhandled = fireEvent.keyDown(field('Name'), { key: 'z', ctrlKey: true, ...shift })
  expect(isUnhandled).toBe(true)
  expect(undo).not.toHaveBeenCalled()
  press('z', { ctrlKey: true, ...shift })
  expect(undo).toHaveBeenCalledOnce()
})
