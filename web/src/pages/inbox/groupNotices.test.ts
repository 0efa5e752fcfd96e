import { expect, test } from 'vitest'
import { groupNotices } from './groupNotices'

const notice = (id: string, object: string, group_id: string) => ({ id, object, group_id })

test('alerts about one object are one group, where its newest alert stands', () => {
  const groups = groupNotices([
    notice('5', 'monitor', 'm1'),
    notice('4', 'job', 'm1'),
    notice('3', 'monitor', 'm1'),
    notice('2', 'member', ''),
    notice('1', 'member', ''),
  ])
  expect(groups.map((group) => group.map(({ id }) => id))).toEqual([
    ['5', '3'],
    ['4'],
    ['2'],
    ['1'],
  ])
})
