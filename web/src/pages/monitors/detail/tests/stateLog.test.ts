import { describe, expect, it } from 'vitest'
import { spansOf } from '../stateLog'

describe('state log', () => {
  it('makes spans from state changes, and the newest one is open', () => {
    const turn = (at: string, state: string) => ({ at, state, from: 'unknown', message: '' })
    const spans = spansOf([turn('3', 'normal'), turn('2', 'failure'), turn('1', 'normal')])
    expect(spans.map((span) => [span.state, span.at, span.until])).toEqual([
      ['normal', '3', null],
      ['failure', '2', '3'],
      ['normal', '1', '2'],
    ])
  })
})
