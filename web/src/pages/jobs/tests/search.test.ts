import { expect, test } from 'vitest'
import { validFilter, validJobSearch } from '../search'

test('known filters are read, numbers as text', () => {
  expect(validFilter({ state: 'failure', q: 7, host: 'h1' })).toEqual({
    state: 'failure',
    q: '7',
    host: 'h1',
  })
})

test('unknown, empty and structured parameters are dropped, long ones are cut', () => {
  expect(validFilter({ page: 'x', q: '', task: ['a'], user: null })).toEqual({})
  expect(validFilter({ q: 'x'.repeat(500) }).q).toHaveLength(200)
})

test('an attempt is a positive integer', () => {
  expect(validJobSearch({ attempt: '2' })).toEqual({ attempt: 2 })
  for (const attempt of [0, -1, 1.5, 'x', undefined])
    expect(validJobSearch({ attempt })).toEqual({})
  expect(validJobSearch({ answer: true })).toEqual({ answer: true })
  expect(validJobSearch({ answer: 'yes' })).toEqual({})
})
