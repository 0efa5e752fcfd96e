// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { viewersOf } from '../visibility'

test('visibility follows from level, name and tag', () => {
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
