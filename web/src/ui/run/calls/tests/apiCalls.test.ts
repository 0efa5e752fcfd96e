// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { newArgument } from '../../../../pages/tasks/draft/templates'
import { curlCall, htmlForm } from '../apiCalls'

test('calls are quoted for the shell and for pages', () => {
  const target = { kind: 'task' as const, id: '1', name: 'x' }
  expect(curlCall(target, { token: true }, ["it's"])).toContain(`["it'\\''s"]`)
  const form = htmlForm(target, 'key', [newArgument('input', { label: '<b>"x"</b>' })])
  expect(form).toContain('&lt;b&gt;&quot;x&quot;&lt;/b&gt;')
})

test.each([
  ['input', '<input name="task_arguments[]" type="text" required>'],
  ['regexp', '<input name="task_arguments[]" type="text" required>'],
  ['remote-options', '<input name="task_arguments[]" type="text" required>'],
  ['email', '<input name="task_arguments[]" type="email" required>'],
  ['date', '<input name="task_arguments[]" type="date" required>'],
  ['file', '<input name="task_arguments[]" type="file" required>'],
  ['textarea', '<textarea name="task_arguments[]" required></textarea>'],
  ['json', '<textarea name="task_arguments[]" required></textarea>'],
  [
    'boolean',
    '<select name="task_arguments[]" required><option>false</option><option>true</option></select>',
  ],
  ['select', '<select name="task_arguments[]" required><option>eu</option></select>'],
] as const)('the HTML form has an input for a %s', (type, input) => {
  const target = { kind: 'task' as const, id: '1', name: 'x' }
  const options = [{ id: 'eu', label: 'Europe', order: 0 }]
  expect(htmlForm(target, 'key', [newArgument(type, { options })])).toContain(input)
})

test('the HTML form hides a masked value, and has no input for a fixed one', () => {
  const target = { kind: 'task' as const, id: '1', name: 'x' }
  const form = htmlForm(target, 'key', [
    newArgument('email', { masked: true }),
    newArgument('fixed'),
  ])
  expect(form.match(/<input[^>]*>/g)).toEqual([
    '<input name="task_arguments[]" type="password" required>',
  ])
})
