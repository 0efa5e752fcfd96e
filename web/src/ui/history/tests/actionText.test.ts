// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest'
import { setPrefs } from '../../../lib/prefs'
import { actionText, objectText } from '../actionText'

afterEach(() => setPrefs({ language: 'en' }))

test('actions are sentences in the language of the console', () => {
  expect(actionText('session.begin')).toBe('Signed in')
  expect(actionText('task.change')).toBe('Task changed')
  expect(actionText('monitor.reveal_secret')).toBe('Monitor secret key shown')
  setPrefs({ language: 'es' })
  expect(actionText('session.begin')).toBe('Inició sesión')
  expect(actionText('task.change')).toBe('Tarea: cambio')
})

test('the kind of an object is written as people say it', () => {
  expect(objectText('statuspage')).toBe('status page')
  expect(objectText('file')).toBe('script')
  expect(objectText('choir')).toBe('choir')
})

test('an unknown action has no words', () => {
  for (const code of ['task.sing', 'choir.create', 'task', '']) expect(actionText(code)).toBeNull()
})
