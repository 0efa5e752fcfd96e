// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { choose, enter, field, renderPage } from '../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../tests/unit/server'
import { newArgument } from '../../../pages/tasks/draft/templates'
import { ArgumentForm } from '../ArgumentForm'
import { type Argument, firstValues } from '../values'

/** Shows the form and returns its current values. */
async function open(definitions: Argument[], errors: Record<string, string> = {}) {
  const onChange = vi.fn()
  function Form() {
    const [value, setValue] = useState(() => firstValues(definitions))
    onChange.mockImplementation(setValue)
    return (
      <ArgumentForm arguments={definitions} value={value} onChange={onChange} errors={errors} />
    )
  }
  await renderPage(<Form />)
  return () => onChange.mock.lastCall?.[0] as unknown[]
}

const options = ['b', 'a'].map((id, order) => ({ id, label: `Label ${id}`, order }))

test('a task without arguments says so', async () => {
  await open([])
  expect(screen.getByText('This runs without arguments.')).toBeTruthy()
})

test('a change of one argument leaves the others as they are', async () => {
  const values = await open([
    newArgument('input', { label: 'Host', value: 'web-1' }),
    newArgument('input', { label: 'Port', value: '80' }),
  ])
  enter('Port', '443')
  expect(values()).toEqual(['web-1', '443'])
})

test('an argument without a label has its number, and its help is shown', async () => {
  await open([newArgument('input', { help: 'Without https://' })])
  expect(field('Argument 1')).toBeTruthy()
  expect(screen.getByText('Without https://')).toBeTruthy()
})

test('an error is shown at its argument', async () => {
  const labels = ['Host', 'Port'].map((label) => newArgument('input', { label }))
  await open(labels, { 'task_arguments[1]': 'Required.' })
  expect(field('Port').getAttribute('aria-invalid')).toBe('true')
  expect(field('Host').getAttribute('aria-invalid')).not.toBe('true')
})

test('a fixed argument is visible and cannot be changed', async () => {
  await open([newArgument('fixed', { label: 'Mode', value: { dry: true } })])
  expect(field('Mode').value).toBe('{"dry":true}')
  expect(field('Mode').disabled).toBe(true)
})

test.each(['textarea', 'json'] as const)('a masked %s keeps its line breaks', async (type) => {
  const values = await open([newArgument(type, { label: 'Key', masked: true })])
  expect(field('Key').classList).toContain('secret-hidden')
  enter('Key', 'BEGIN\nabc\nEND')
  expect(values()).toEqual(['BEGIN\nabc\nEND'])
})

test.each(['input', 'email', 'regexp'] as const)(
  'a masked %s is a password field',
  async (type) => {
    await open([newArgument(type, { label: 'Key', masked: true })])
    expect(field('Key').type).toBe('password')
    expect(field('Key').autocomplete).toBe('new-password')
  },
)

test('an e-mail argument asks for the right keyboard', async () => {
  const values = await open([newArgument('email', { label: 'To' })])
  expect(field('To').type).toBe('email')
  enter('To', 'ana@example.org')
  expect(values()).toEqual(['ana@example.org'])
})

test('a switch gives true and false', async () => {
  const values = await open([newArgument('boolean', { label: 'Force', value: 'true' })])
  expect(field('Force').checked).toBe(true)
  fireEvent.click(field('Force'))
  expect(values()).toEqual([false])
})

test('choices are in their order, with their labels', async () => {
  const values = await open([newArgument('select', { label: 'Zone', options })])
  fireEvent.click(field('Zone'))
  const entries = await screen.findAllByRole('option', { hidden: true })
  expect(entries.map((entry) => entry.textContent)).toEqual(['Label b', 'Label a'])
  await choose('Zone', 'Label a')
  expect(values()).toEqual(['a'])
})

test('several choices are an array', async () => {
  const values = await open([newArgument('select', { label: 'Zones', options, multiple: true })])
  await choose('Zones', 'Label a')
  await choose('Zones', 'Label b')
  expect(values()).toEqual([['a', 'b']])
})

test('a readonly argument cannot be changed', async () => {
  await open([
    newArgument('input', { label: 'Host', value: 'x', readonly: true }),
    newArgument('boolean', { label: 'Force', readonly: true }),
  ])
  expect(field('Host').readOnly).toBe(true)
  expect(field('Force').disabled).toBe(true)
})

test('a time can be entered once there is a day', async () => {
  const values = await open([newArgument('date', { label: 'When' })])
  expect(field('When: Time (optional)').disabled).toBe(true)
  enter('When: Date', '2026-05-04')
  expect(values()).toEqual(['2026-05-04'])
  enter('When: Time (optional)', '08:30')
  expect(new Date(String(values()[0])).getTime()).toBe(new Date('2026-05-04T08:30').getTime())
})

test('choices of this server are loaded and offered', async () => {
  answer('GET /choices', [{ code: 'x', title: 'Ex' }])
  const values = await open([
    newArgument('remote-options', {
      label: 'Code',
      endpoint_url: '/choices',
      id_attribute: 'code',
      text_attribute: 'title',
    }),
  ])
  await waitFor(() => expect(requestsTo('GET /choices')).toHaveLength(1))
  await choose('Code', 'Ex')
  expect(values()).toEqual(['x'])
})

test('choices that cannot be loaded are typed, and the form says why', async () => {
  const values = await open([
    newArgument('remote-options', { label: 'Code', endpoint_url: '/missing' }),
  ])
  expect(await screen.findByText(/\/missing, which did not respond/)).toBeTruthy()
  enter('Code', 'typed')
  expect(values()).toEqual(['typed'])
})

test('choices of another site are never requested', async () => {
  await open([
    newArgument('remote-options', { label: 'Code', endpoint_url: 'https://other.example/x' }),
  ])
  expect(screen.getByText(/another site/)).toBeTruthy()
  expect(requestsTo('GET /x')).toEqual([])
})

test('a file is sent with its name and type', async () => {
  const values = await open([newArgument('file', { label: 'Upload' })])
  const input = document.querySelector<HTMLInputElement>('input[type="file"]')!
  const file = new File(['hello'], 'a b.txt', { type: 'text/plain' })
  await act(async () => void fireEvent.change(input, { target: { files: [file] } }))
  await waitFor(() => expect(values()).toEqual(['data:text/plain;name=a%20b.txt;base64,aGVsbG8=']))
})

test('a file that is too large is refused before it is read', async () => {
  const values = await open([newArgument('file', { label: 'Upload' })])
  const input = document.querySelector<HTMLInputElement>('input[type="file"]')!
  const file = new File(['x'], 'big.iso')
  Object.defineProperty(file, 'size', { value: 33 * 1024 * 1024 })
  await act(async () => void fireEvent.change(input, { target: { files: [file] } }))
  expect(await screen.findByText('The file is larger than 32 MB.')).toBeTruthy()
  expect(values()).toEqual([''])
})
