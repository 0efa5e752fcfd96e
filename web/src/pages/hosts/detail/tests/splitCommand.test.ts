import { describe, expect, it } from 'vitest'
import { splitCommand } from '../splitCommand'

describe('a typed command', () => {
  it('is split as a shell does', () => {
    expect(splitCommand(`sh -c "echo 'a b' \\"c\\"" d\\ e ''`)).toEqual([
      'sh',
      '-c',
      `echo 'a b' "c"`,
      'd e',
      '',
    ])
  })

  it('is refused with an open quote', () => {
    expect(splitCommand('echo "a')).toBeNull()
  })
})
