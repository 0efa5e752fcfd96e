import { expect, test } from 'vitest'
import { shortId, shortIdIn } from '../../lib/jobId'
import { firstErrorLine, lastLine } from './firstError'
import { originPage, originText } from './origin'

const ada = { id: 'u1', username: 'ada', email: 'ada@example.org' }
const nobody = { id: '', username: '', email: '' }

test.each([
  [['starting', 'Error: no space', 'Error: again'], { line: 2, text: 'Error: no space' }],
  [
    ['Traceback (most recent call last):', '  File "x.py", line 1', "KeyError: 'a'"],
    { line: 3, text: "KeyError: 'a'" },
  ],
  [
    ['compiled with 0 errors', 'bash: jq: command not found'],
    { line: 2, text: 'bash: jq: command not found' },
  ],
  [['one', 'two', ''], null],
  [['errorless words and terrors'], null],
  [['', ' '], null],
])('the first error of %j', (lines, expected) => {
  expect(firstErrorLine(lines)).toEqual(expected)
})

test('lines are counted from where they were read', () => {
  expect(firstErrorLine(['fatal: x'], 501)).toEqual({ line: 501, text: 'fatal: x' })
  expect(lastLine(['done', ' '], 501)).toEqual({ line: 501, text: 'done' })
  expect(lastLine(['', ' '])).toBeNull()
})

test('the origin names what started the job', () => {
  const by = (kind: string, name: string) => ({
    origin: 'trigger_by',
    user: nobody,
    started_by: { kind, id: '0'.repeat(24), name },
  })
  expect(originText(by('webhook', 'crm-export'))).toBe('webhook crm-export')
  expect(originText(by('task', ''))).toBe('task')
  expect(originPage(by('webhook', 'x'))).toBe(`/webhooks/${'0'.repeat(24)}`)
  expect(originPage(by('token', 'ci'))).toBeNull()
  expect(originText({ origin: 'user', user: ada, started_by: null })).toBe('ada')
  expect(originText({ origin: 'scheduler', user: nobody, started_by: null })).toBe('schedule')
})

test('a short id has one length', () => {
  expect(shortId('01a1e9118ea369e1b3ea0fb3')).toBe('#ea0fb3')
  expect(shortIdIn('#EA0FB3')).toBe('ea0fb3')
  expect(shortIdIn('ea0fb')).toBeNull()
  expect(shortIdIn('01a1e9118ea369e1b3ea0fb3')).toBeNull()
})
