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
