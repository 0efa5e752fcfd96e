// @vitest-environment happy-dom
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import {
  choose,
  click,
  enter,
  field,
  press,
  renderPage,
  submit,
} from '../../../../../../tests/unit/render'
import { type Argument, nameOf } from '../../../../../ui/arguments/values'
import type { FormProps } from '../../../draft/taskDraft'
import { newArgument } from '../../../draft/templates'
import { ArgumentEditor } from '../ArgumentEditor'
import { ArgumentList } from '../ArgumentList'

type Props = React.ComponentProps<typeof ArgumentEditor>

async function open(value: Argument, props: Partial<Props> = {}) {
  const onChange = vi.fn()
  const onClose = vi.fn()
  await renderPage(
    <ArgumentEditor
      value={value}
      index={2}
      readOnly={false}
      errors={{}}
      onChange={onChange}
      onClose={onClose}
      {...props}
    />,
  )
  return { onClose, onChange, result: () => onChange.mock.lastCall?.[0] as Argument }
}

const isThere = (label: string | RegExp) => screen.queryByLabelText(label) !== null

test('a definition is applied when the reader says so, and not before', async () => {
  const { onChange, onClose, result } = await open(newArgument('input', { label: 'Host' }))
  enter('Label', 'Server')
  enter('Help', 'Its name')
  fireEvent.click(field('Required'))
  expect(onChange).not.toHaveBeenCalled()
  await submit('Apply changes')
  expect(result()).toMatchObject({ label: 'Server', help: 'Its name', required: false })
  expect(onClose).toHaveBeenCalledOnce()
})

test('Ctrl+Enter applies, Cancel does not', async () => {
  const { onChange, onClose } = await open(newArgument('input'))
  await click('Cancel')
  expect(onClose).toHaveBeenCalledOnce()
  expect(onChange).not.toHaveBeenCalled()
  await act(async () => press('Enter', { ctrlKey: true }))
  expect(onChange).toHaveBeenCalledOnce()
})

test('another kind drops the default value of the one before', async () => {
  const { result } = await open(newArgument('input', { value: 'web-1' }))
  await choose('Kind', 'Yes or no')
  await submit('Apply changes')
  expect(result()).toMatchObject({ type: 'boolean', value: null })
})

test('choices are entered one per line', async () => {
  const { result } = await open(newArgument('select'))
  enter('Choices', 'eu = Europe\nus')
  fireEvent.click(field('Allow several choices'))
  await submit('Apply changes')
  expect(result()).toMatchObject({
    multiple: true,
    options: [
      { id: 'eu', label: 'Europe', order: 0 },
      { id: 'us', label: 'us', order: 1 },
    ],
  })
})

test('lengths are numbers, and an empty one is no limit', async () => {
  const { result } = await open(newArgument('input', { charsmin: 3 }))
  enter('Minimum length', '')
  enter('Maximum length', '20')
  await submit('Apply changes')
  expect(result()).toMatchObject({ charsmin: null, charsmax: 20 })
})

test.each([
  ['input', { 'Minimum length': true, Choices: false, 'Default value': true }],
  ['regexp', { 'Minimum length': true, Choices: false, 'Default value': true }],
  ['boolean', { 'Minimum length': false, Choices: false, 'Default value': true }],
  ['file', { 'Minimum length': false, Choices: false, 'Default value': false }],
  ['remote-options', { 'URL of the choices': true, 'Default value': false }],
  ['fixed', { Value: true, Required: false, 'Read-only': false }],
] as const)('a %s has the fields that it needs', async (type, fields) => {
  await open(newArgument(type))
  const labels = Object.keys(fields).map((label) => [label, isThere(label)])
  expect(Object.fromEntries(labels)).toEqual(fields)
})

test('choices of an address name the attributes of its objects', async () => {
  const { result } = await open(newArgument('remote-options'))
  enter('URL of the choices', '/host')
  enter('Attribute with the value', 'id')
  enter('Attribute with the label', 'hostname')
  await submit('Apply changes')
  expect(result()).toMatchObject({
    endpoint_url: '/host',
    id_attribute: 'id',
    text_attribute: 'hostname',
  })
})

test('an error of the server is shown at the field of this argument', async () => {
  const errors = {
    'task_arguments[2].pattern': 'Invalid pattern.',
    'task_arguments[1].pattern': 'Another argument.',
  }
  await open(newArgument('regexp'), { errors })
  expect(screen.getByText('Invalid pattern.')).toBeTruthy()
  expect(screen.queryByText('Another argument.')).toBeNull()
})

test('a reader without permission changes nothing', async () => {
  const { onChange, onClose } = await open(newArgument('input'), { readOnly: true })
  await act(async () => press('Enter', { ctrlKey: true }))
  expect(onClose).toHaveBeenCalledOnce()
  expect(onChange).not.toHaveBeenCalled()
})

test('a new argument joins the list when it is applied', async () => {
  const set = vi.fn()
  const task = { task_arguments: [newArgument('input', { label: 'Host' })] }
  await renderPage(<ArgumentList {...({ task, set, errors: {} } as unknown as FormProps)} />)
  await click('Add argument')
  await click('Cancel')
  expect(set).not.toHaveBeenCalled()
  await click('Add argument')
  enter('Label', 'Port')
  const add = within(screen.getByRole('dialog')).getByRole('button', { name: 'Add argument' })
  await act(async () => void fireEvent.submit(add.closest('form')!))
  const list = set.mock.lastCall![0].task_arguments as Argument[]
  expect(list.map(nameOf)).toEqual(['Host', 'Port'])
  expect(list.map(({ order }) => order)).toEqual([0, 1])
})
