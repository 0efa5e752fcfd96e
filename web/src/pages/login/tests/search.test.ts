import { expect, test } from 'vitest'
import { validLoginSearch } from '../search'

test('the sign-in leads to a path of this site', () => {
  expect(validLoginSearch({ to: '/acme/jobs?state=failure' })).toEqual({
    to: '/acme/jobs?state=failure',
  })
})

test('an address of another site is dropped', () => {
  for (const to of ['https://evil.example', '//evil.example', '/\\evil.example', 'acme', 7])
    expect(validLoginSearch({ to })).toEqual({})
})

test('the reason of a failed sign-in is kept', () => {
  expect(validLoginSearch({ problem: 'bad_state' })).toEqual({ problem: 'bad_state' })
})
