import { expect, test } from 'vitest'
import { type Failure, notifiedChannels } from '../notifiedBy'

const CHANNELS = [
  { id: 'a', name: 'ops', enable: true },
  { id: 'b', name: 'off', enable: false },
]
const RULE = {
  enable: true,
  channels: ['a', 'b'],
  kinds: [] as string[],
  objects: [] as string[],
  states: [] as string[],
  tags: [] as string[],
  severity: 'LOW',
}
const FAILURE: Failure = { kind: 'monitor.failure', objectIds: ['m'], tags: ['web'] }
const names = (rule: Partial<typeof RULE>, failure: Partial<Failure> = {}) =>
  notifiedChannels({ ...FAILURE, ...failure }, [{ ...RULE, ...rule }], CHANNELS)

test('a rule without filters notifies its enabled channels', () => {
  expect(names({})).toEqual(['ops'])
})

test('without a rule, nobody is notified', () => {
  expect(notifiedChannels(FAILURE, [], CHANNELS)).toEqual([])
})

test.each([
  ['a disabled rule', { enable: false }],
  ['another kind', { kinds: ['job.*'] }],
  ['another object', { objects: ['x'] }],
  ['another state', { states: ['success'] }],
  ['another tag', { tags: ['db'] }],
])('%s notifies nobody', (_, rule) => {
  expect(names(rule)).toEqual([])
})

test.each([
  ['the kind', { kinds: ['monitor.failure'] }],
  ['its group', { kinds: ['monitor.*'] }],
  ['the object', { objects: ['m'] }],
  ['the tag in another case', { tags: ['WEB'] }],
])('a rule for %s notifies', (_, rule) => {
  expect(names(rule)).toEqual(['ops'])
})

test('a rule for severe failures leaves out a low one', () => {
  expect(names({ severity: 'HIGH' }, { severity: 'low' })).toEqual([])
  expect(names({ severity: 'HIGH' }, { severity: 'CRITICAL' })).toEqual(['ops'])
})

test('a choice in the form replaces the rule of this object only', () => {
  const rules = [
    { ...RULE, channels: ['a'], objects: ['m'] },
    { ...RULE, channels: ['c'], objects: [] },
  ]
  const channels = [...CHANNELS, { id: 'c', name: 'all', enable: true }]
  expect(notifiedChannels(FAILURE, rules, channels)).toEqual(['ops', 'all'])
  expect(notifiedChannels(FAILURE, rules, channels, [])).toEqual(['all'])
  expect(notifiedChannels(FAILURE, rules, channels, ['a'])).toEqual(['ops', 'all'])
})
