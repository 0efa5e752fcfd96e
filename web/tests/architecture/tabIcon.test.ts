import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DRAWING } from '../../src/lib/tabIcon'

test('the icon with the number of problems is the same drawing as the file', () => {
  const file = readFileSync(new URL('../../public/favicon.svg', import.meta.url), 'utf8')
  expect(file).toContain(DRAWING)
})
