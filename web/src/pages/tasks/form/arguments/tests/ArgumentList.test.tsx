// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { renderInConsole } from '../../../../../../tests/unit/render'
import type { FormProps } from '../../../draft/taskDraft'
import { ArgumentList } from '../ArgumentList'

const argument = (label: string, order: number) => ({ type: 'input', label, order, value: '' })

function open(errors: Record<string, string> = {}, readOnly = false) {
  const set = vi.fn()
  const task = { task_arguments: ['host', 'port', 'path'].map(argument) }
  const props = { task, set, errors, readOnly } as unknown as FormProps
  renderInConsole(<ArgumentList {...props} />)
  return { set, order: () => set.mock.lastCall![0].task_arguments.map(labelAndOrder) }
}
const labelAndOrder = ({ label, order }: { label: string; order: number }) => `${order} ${label}`
const grip = (name: string) =>
  screen.getByRole('button', { name: new RegExp(`^${name}, position`) })

test('the arrow keys move an argument, and the new order is announced', () => {
  const { order } = open()
  fireEvent.keyDown(grip('port'), { key: 'ArrowUp' })
  expect(order()).toEqual(['0 port', '1 host', '2 path'])
  expect(screen.getByText('port is now number 1.')).toBeTruthy()
})

test('the first argument does not move further up, nor the last one down', () => {
  const { set } = open()
  fireEvent.keyDown(grip('host'), { key: 'ArrowUp' })
  fireEvent.keyDown(grip('path'), { key: 'ArrowDown' })
  fireEvent.keyDown(grip('path'), { key: 'a' })
  expect(set).not.toHaveBeenCalled()
})

test('dropping an argument on another one moves it there', () => {
  const { order } = open()
  fireEvent.dragStart(grip('host'))
  fireEvent.drop(grip('path').closest('li')!)
  expect(order()).toEqual(['0 port', '1 path', '2 host'])
})

test('removing an argument numbers the others again', () => {
  const { order } = open()
  fireEvent.click(screen.getByRole('button', { name: 'Remove host' }))
  expect(order()).toEqual(['0 port', '1 path'])
})

test('an error is shown at its argument', () => {
  open({ 'task_arguments[1].pattern': 'Invalid pattern.' })
  expect(grip('port').closest('li')!.textContent).toContain('Invalid pattern.')
  expect(grip('host').closest('li')!.textContent).not.toContain('Invalid pattern.')
})

test('a reader cannot move or remove arguments', () => {
  open({}, true)
  expect((grip('host') as HTMLButtonElement).disabled).toBe(true)
  expect(screen.queryByRole('button', { name: 'Remove host' })).toBeNull()
})
