export interface Message {
  id: string
  event: string
  data: string
}

/**
 * Server-sent events over fetch: unlike EventSource it has the status of a refusal, receives every
 * kind of event, and shows heartbeats (as messages without data), so silence can be noticed.
 */
export async function* readEvents(
  url: string,
  init: RequestInit & { lastId?: string },
): AsyncGenerator<Message> {
  const headers = {
    accept: 'text/event-stream',
    ...(init.lastId ? { 'last-event-id': init.lastId } : {}),
  }
  const answer = await fetch(url, { ...init, headers, cache: 'no-store' })
  if (!answer.ok || !answer.body) throw new StreamRefused(answer.status)
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (rest + value).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) yield message(part)
  }
}

export class StreamRefused extends Error {
  constructor(readonly status: number) {
    super(`stream refused: ${status}`)
  }
}

function message(block: string): Message {
  const message: Message = { id: '', event: '', data: '' }
  const data: string[] = []
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon < 1) continue
    const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    const name = line.slice(0, colon)
    if (name === 'data') data.push(value)
    else if (name === 'id') message.id = value
    else if (name === 'event') message.event = value
  }
  message.data = data.join('\n')
  return message
}
