// @vitest-environment happy-dom
import { useQuery } from '@tanstack/react-query'
import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { renderPage } from '../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../tests/unit/server'
import { startLive } from '../../live'
import { tagNamesQuery } from '../names'

function Tags({ object }: { object: 'task' | 'host' }) {
  const { data = [] } = useQuery(tagNamesQuery(object))
  return <p>{data.join(', ')}</p>
}

/** The event stream; the function sends a text on it. */
function answerEvents(): (text: string) => void {
  const stream = new TransformStream<Uint8Array, Uint8Array>()
  const writer = stream.writable.getWriter()
  answer('GET /-/events', () => new Response(stream.readable))
  return (text) => void writer.write(new TextEncoder().encode(text))
}

test.each(['task', 'host'] as const)('a new tag of a %s is offered at once', async (object) => {
  answer('GET /tag', [{ name: 'nightly' }])
  const send = answerEvents()
  const { client } = await renderPage(<Tags object={object} />)
  await screen.findByText('nightly')
  const stop = startLive(client, () => {})
  // What was read before the stream began is read again.
  send(':\n\n')
  await waitFor(() => expect(requestsTo('GET /tag')).toHaveLength(2))
  answer('GET /tag', [{ name: 'nightly' }, { name: 'weekly' }])
  const event = { kind: `${object}.changed`, object, object_id: 'x1', data: {} }
  send(`id: 1\ndata: ${JSON.stringify(event)}\n\n`)
  await screen.findByText('nightly, weekly')
  stop()
})
