import { useEffect, useState } from 'react'
import { address } from '../../api/client'
import { readEvents } from '../../lib/sse'

const MOST_CHARACTERS = 20_000
const AGAIN_MS = 1_000

export interface JobOutput {
  lines: string[]
  isOver: boolean
}

/**
 * The last lines of a job's output, live, wherever it is used; continues after a broken connection.
 */
export function useLastLines(jobId: string, most: number): JobOutput {
  const [tail, setTail] = useState<JobOutput>({ lines: [], isOver: false })
  useEffect(() => {
    const stop = new AbortController()
    let text = ''
    const show = (isOver: boolean) => setTail({ lines: lastLines(text, most), isOver })
    const append = (more: string) => {
      text = (text + more).slice(-MOST_CHARACTERS)
      show(false)
    }
    setTail({ lines: [], isOver: false })
    void follow(jobId, stop.signal, append).then((isOver) => isOver && show(true))
    return () => stop.abort()
  }, [jobId, most])
  return tail
}

async function follow(
  id: string,
  stop: AbortSignal,
  append: (text: string) => void,
): Promise<boolean> {
  let lastId = ''
  while (!stop.aborted) {
    try {
      const url = address(`/job/${id}/log`, { follow: 'true' })
      for await (const message of readEvents(url, { signal: stop, lastId })) {
        if (message.id) lastId = message.id
        if (message.event === 'output') append(JSON.parse(message.data))
        if (message.event === 'end') return true
      }
    } catch {
      // The connection was lost: the last id says where to resume.
    }
    if (!stop.aborted) await new Promise((done) => setTimeout(done, AGAIN_MS))
  }
  return false
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal would obey
const TERMINAL = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b./g

/** Plain text: no colours, and of a line that was written over only its last form. */
export function lastLines(text: string, most: number): string[] {
  const lines = text.replace(TERMINAL, '').replaceAll('\r\n', '\n').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.slice(-most).map((line) => line.split('\r').filter(Boolean).at(-1) ?? '')
}
