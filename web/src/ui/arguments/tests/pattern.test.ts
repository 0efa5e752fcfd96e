import { expect, test } from 'vitest'
import { isCheap, mayMatch } from '../pattern'

test('plain patterns are tested in the page, against the whole value', () => {
  expect(mayMatch('[a-z]+-[0-9]{1,8}', 'web-12')).toBe(true)
  expect(mayMatch('[a-z]+-[0-9]{1,8}', 'web-')).toBe(false)
  expect(mayMatch('[a-z]+', 'web-1')).toBe(false)
  expect(mayMatch('\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}', '10.0.0.1')).toBe(true)
  expect(mayMatch('\\(v\\d\\)', '(v1)')).toBe(true)
  expect(mayMatch('a|b', 'c')).toBe(false)
})

test.each([
  '(a+)+b',
  '(a|a)*b',
  '(?:a|a)(?:a|a)(?:a|a)b',
  'a*a*a*b',
  '.*.*.*=.*',
  'a{1,1000}a{1,1000}a{1,1000}b',
  'a{1,}a{2,}a{3,}b',
  'x'.repeat(1_001),
])('%s is left to the server', (pattern) => {
  expect(isCheap(pattern)).toBe(false)
  expect(mayMatch(pattern, 'a'.repeat(50))).toBe(true)
})

test('a value that is too long and a pattern of another syntax are left to the server', () => {
  expect(mayMatch('[a-z]+', 'a'.repeat(1_001))).toBe(true)
  expect(mayMatch('\\Aa\\Z', 'b')).toBe(true)
})
