import { address } from '../../../api/client'
import type { LogStore } from './logStore'

/** Takes in what was written since; gives the id that a stream would have, or null: not to be had. */
export async function pollLog(
  jobId: string,
  attempt: number | undefined,
  lastId: string,
  store: LogStore,
): Promise<string | null> {
  const [number, offset] = parseEventId(lastId)
  const url = address(`/job/${jobId}/log`, { attempt: attempt ?? number })
  const headers = { range: `bytes=${offset}-` }
  const answer = await fetch(url, { headers, cache: 'no-store' })
  const end = /^bytes \d+-(\d+)\//.exec(answer.headers.get('content-range') ?? '')
  if (answer.status !== 206 || !end) return answer.status === 416 ? lastId : null
  const body = new Uint8Array(await answer.arrayBuffer())
  const rest = unfinishedBytes(body)
  store.append(new TextDecoder().decode(body.subarray(0, body.length - rest)))
  store.setStatus({ status: 'live' })
  const next = Number(end[1]) + 1 - rest
  return number ? `${number}/${next}` : String(next)
}

/** Attempt and byte that an event's id names. */
function parseEventId(id: string): [number | undefined, number] {
  const [a, b] = id.split('/')
  return b === undefined ? [undefined, Number(a) || 0] : [Number(a), Number(b)]
}

/** How many bytes at the end belong to an incomplete character. */
export function unfinishedBytes(body: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, body.length); back++) {
    const byte = body[body.length - back]!
    if (byte < 0x80) return 0
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0
    if (size) return size > back ? back : 0
  }
  return 0
}
