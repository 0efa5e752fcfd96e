// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import type { Task } from '../../src/api/queries/automation/task'
import { clockIn, isCron, wallClockText } from '../../src/pages/schedules/form/cronText'
import { bodyOf, draftOf, firstDraft, whenOf } from '../../src/pages/schedules/form/scheduleDraft'
import { changedFields } from '../../src/pages/tasks/draft/taskDraft'
import { emptyTask, newArgument } from '../../src/pages/tasks/draft/templates'
import {
  moveArgument,
  numberArguments,
  optionsIn,
  optionsText,
} from '../../src/pages/tasks/form/arguments/argumentOrder'
import { pairsText, parsePairs } from '../../src/pages/tasks/form/pairs'
import { mapPayload, payloadElements } from '../../src/pages/webhooks/detail/payloadMapping'
import { viewersOf } from '../../src/ui/acl/visibility'
import { mergeEdits } from '../../src/ui/editConflict/heldVersion'
import { curlCall, htmlForm } from '../../src/ui/run/calls/apiCalls'

it('an edit that leads back to what was there is none', () => {
  const base = { ...emptyTask('script'), name: 'a' } as Task
  const edits = mergeEdits(base, {}, { name: 'b' })
  expect(edits).toEqual({ name: 'b' })
  expect(mergeEdits(base, edits, { name: 'a' })).toEqual({})
  expect(changedFields(base, { ...base, name: 'b', version: 9 })).toEqual(['name'])
})

it('arguments are numbered as the list shows them', () => {
  const list = ['a', 'b', 'c'].map((label) => newArgument('input', { label }))
  const next = numberArguments(moveArgument(list, 2, 0))
  expect(next.map((argument) => [argument.label, argument.order])).toEqual([
    ['c', 0],
    ['a', 1],
    ['b', 2],
  ])
})

it('choices and pairs survive the way through their text', () => {
  const options = optionsIn('a = Apple\nb\n')
  expect(options).toEqual([
    { id: 'a', label: 'Apple', order: 0 },
    { id: 'b', label: 'b', order: 1 },
  ])
  expect(optionsText(options)).toBe('a = Apple\nb')
  expect(parsePairs('A=1=2\n\nB=', '=')).toEqual({ A: '1=2', B: '' })
  expect(parsePairs('nothing', '=')).toBeNull()
  expect(pairsText({ Accept: 'text/html' }, ':')).toBe('Accept: text/html')
})

it('a cron text is told from an interval', () => {
  expect(['0 7 * * *', '@daily', '*/5 0 7 * * mon'].map(isCron)).toEqual([true, true, true])
  expect(['every 15 minutes', '90s', ''].map(isCron)).toEqual([false, false, false])
})

it('times stand on the clocks of the zone, also over a change', () => {
  expect(clockIn('2026-03-29T01:00:00.000Z', 'Europe/Berlin')).toBe('2026-03-29T03:00')
  expect(wallClockText('2026-03-29T03:00:00+02:00', 'en')).toMatch(/29.*03:00.*\+02:00/)
})

it('a date that has passed is not sent again with another change', () => {
  const before = { ...firstDraft('UTC'), date: '2020-01-01T00:00' }
  const body = bodyOf({ ...before, overlap: 'queue' }, before)
  expect('runDate' in body).toBe(false)
  expect(bodyOf(before).runDate).toBe('2020-01-01T00:00')
  expect(whenOf({ ...before, mode: 'once' }).repeatEvery).toBeNull()
  expect(draftOf({ ...before, repeatEvery: '2h', runDate: null } as never).mode).toBe('every')
})

it('element n is argument n, fixed ones counted', () => {
  const definitions = [
    newArgument('input'),
    newArgument('fixed', { value: 'f' }),
    newArgument('input'),
  ]
  const places = mapPayload(definitions, ['a', 'ignored'])
  expect(places.map((source) => source.kind)).toEqual(['given', 'fixed', 'missing'])
  expect(payloadElements('{"a":1}')).toEqual({ elements: [{ a: 1 }], isArray: false })
  expect(payloadElements('[1,')).toBeNull()
})

it('calls are quoted for the shell and for pages', () => {
  const target = { kind: 'task' as const, id: '1', name: 'x' }
  expect(curlCall(target, { token: true }, ["it's"])).toContain(`["it'\\''s"]`)
  const form = htmlForm(target, 'key', [newArgument('input', { label: '<b>"x"</b>' })])
  expect(form).toContain('&lt;b&gt;&quot;x&quot;&lt;/b&gt;')
})

it('who sees a record follows level, name and tag', () => {
  const member = (credential: string, email: string, tags: { k: string; v: string }[] = []) =>
    ({
      id: email,
      credential,
      tags,
      disabled: false,
      invited: false,
      user: { email, username: email, name: '' },
    }) as never
  const members = [
    member('manager', 'm@x'),
    member('user', 'u@x'),
    member('viewer', 'v@x', [{ k: 'team', v: 'blue' }]),
  ]
  const viewers = viewersOf('task', ['U@x', 'team:blue'], members)
  expect(viewers.map((viewer) => [viewer.id, viewer.mayRun, viewer.why.kind])).toEqual([
    ['m@x', false, 'level'],
    ['u@x', true, 'name'],
    ['v@x', false, 'tag'],
  ])
  expect(viewersOf('monitor', [], members)).toHaveLength(3)
  expect(viewersOf('task', [], members)).toHaveLength(1)
})
