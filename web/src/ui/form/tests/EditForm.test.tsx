// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import {
  button,
  click,
  press,
  renderInConsole,
  renderPage,
  submit,
  watchToasts,
} from '../../../../tests/unit/render'
import { ApiError } from '../../../api/errors'
import { DeleteButton, EditForm, FormError, StaleNotice } from '../EditForm'
import { EditMenu } from '../EditMenu'
import { FormDialog } from '../FormDialog'
import { UnsavedChanges } from '../UnsavedChanges'

test.each(['s', 'Enter'])('Ctrl+%s sends a form', (key) => {
  const onSubmit = vi.fn()
  renderInConsole(<EditForm onSubmit={onSubmit}>fields</EditForm>)
  press(key, { ctrlKey: true })
  expect(onSubmit).toHaveBeenCalledOnce()
})

test('a form reports an error of the server only if no field shows it', () => {
  const { rerender } = renderInConsole(<FormError error={new ApiError(409, 'busy', 'It runs.')} />)
  expect(screen.getByRole('alert').textContent).toBe('It runs.')
  const faults = [{ field: 'name', message: 'Required.' }]
  rerender(<FormError error={new ApiError(400, 'invalid', 'Invalid.', faults)} />)
  expect(screen.queryByRole('alert')).toBeNull()
  rerender(<FormError error={null} />)
  expect(screen.queryByRole('alert')).toBeNull()
})

test('a record that someone else changed can be loaded again', async () => {
  const onReload = vi.fn()
  renderInConsole(<StaleNotice maw={400} onReload={onReload} />)
  await click('Reload')
  expect(onReload).toHaveBeenCalledOnce()
})

test('deleting asks first, and closes the question when it is done', async () => {
  const onDelete = vi.fn(async () => {})
  renderInConsole(<DeleteButton name="web-1" onDelete={onDelete} />)
  await click('Delete')
  expect(await screen.findByText('Delete web-1?')).toBeTruthy()
  expect(onDelete).not.toHaveBeenCalled()
  const confirm = screen.getAllByRole('button', { name: 'Delete' }).at(-1)!
  confirm.click()
  await waitFor(() => expect(onDelete).toHaveBeenCalledOnce())
  await waitFor(() => expect(screen.queryByText('Delete web-1?')).toBeNull())
})

test('a failed deletion is reported', async () => {
  const toasts = watchToasts()
  const onDelete = async () => {
    throw new ApiError(409, 'in_use', 'It is in use.')
  }
  renderInConsole(<DeleteButton name="web-1" onDelete={onDelete} />)
  await click('Delete')
  screen.getAllByRole('button', { name: 'Delete' }).at(-1)!.click()
  await waitFor(() => expect(toasts()).toEqual(['It is in use.']))
})

test('an object that cannot be deleted says why', () => {
  renderInConsole(<DeleteButton name="x" refusal="A task uses it." onDelete={async () => {}} />)
  expect(button('Delete').disabled).toBe(true)
  expect(button('Delete').title).toBe('A task uses it.')
})

test('the menu of a row edits, or deletes after a question and reads the list again', async () => {
  const [onEdit, remove] = [vi.fn(), vi.fn(async () => {})]
  const menu = <EditMenu name="web-1" onEdit={onEdit} remove={remove} queryKey={['host']} />
  const { client } = await renderPage(menu)
  const invalidate = vi.spyOn(client, 'invalidateQueries')
  await click('Actions: web-1')
  await click('Edit', 'menuitem')
  expect(onEdit).toHaveBeenCalledOnce()
  await click('Actions: web-1')
  await click('Delete', 'menuitem')
  expect(remove).not.toHaveBeenCalled()
  await submit('Delete')
  await waitFor(() => expect(remove).toHaveBeenCalledOnce())
  expect(invalidate).toHaveBeenCalledWith({ queryKey: ['host'] })
})

test('a dialog with a form can be cancelled, and its button may be disabled', async () => {
  const [onClose, onSubmit] = [vi.fn(), vi.fn()]
  renderInConsole(
    <FormDialog title="Invite" action="Send" disabled onClose={onClose} onSubmit={onSubmit}>
      fields
    </FormDialog>,
  )
  expect(button('Send').disabled).toBe(true)
  await click('Cancel')
  expect(onClose).toHaveBeenCalledOnce()
  expect(onSubmit).not.toHaveBeenCalled()
})

test('leaving a page with unsaved changes asks first', async () => {
  const { router, location } = await renderPage(<UnsavedChanges when />, { address: '/task' })
  void router.navigate({ to: '/acme/jobs' } as never)
  await click('Keep editing')
  expect(location().pathname).toBe('/acme/task')
  void router.navigate({ to: '/acme/jobs' } as never)
  expect(await screen.findByText('Leave without saving?')).toBeTruthy()
  await submit('Discard changes')
  await waitFor(() => expect(location().pathname).toBe('/acme/jobs'))
})

test.each([
  ['nothing changed', false, undefined, '/acme/jobs'],
  ['it is a tab of the same form', true, '/tasks/1', '/acme/tasks/1/history'],
])('a page is left without a question if %s', async (_, when, within, to) => {
  const element = <UnsavedChanges when={when} within={within} />
  const { router, location } = await renderPage(element, { address: '/tasks/1' })
  await router.navigate({ to } as never)
  await waitFor(() => expect(location().pathname).toBe(to))
})
