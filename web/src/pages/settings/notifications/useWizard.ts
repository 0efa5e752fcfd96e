import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { channelsQuery, rulesQuery } from '../../../api/queries/notifications'

export type Scope = 'all' | 'monitors' | 'jobs' | 'none'

/** The events of a rule; none of them means all alerts. */
const KINDS: Record<Exclude<Scope, 'none'>, string[]> = {
  all: [],
  monitors: ['monitor.*'],
  jobs: ['job.*'],
}

interface Setup {
  name: string
  url: string
  scope: Scope
  ruleName: string
}

/** Creates the channel, tests it, and creates the rule when the test was sent. A second try changes
 * the same channel. */
export function useWizard() {
  const client = useQueryClient()
  const [channelId, setChannelId] = useState<string | null>(null)
  return useMutation({
    mutationFn: async ({ name, url, scope, ruleName }: Setup): Promise<Shape<'MessageRecord'>> => {
      const id = await saveChannel(channelId, { name, url, enable: true })
      setChannelId(id)
      const message = await ok(api.POST('/notify/channel/{id}/test', { params: { path: { id } } }))
      if (message.state === 'sent' && scope !== 'none')
        await ok(
          api.POST('/notify/rule', {
            body: { name: ruleName, channels: [id], kinds: KINDS[scope], enable: true },
          }),
        )
      return message
    },
    onSettled: () => {
      void client.invalidateQueries({ queryKey: channelsQuery.queryKey })
      void client.invalidateQueries({ queryKey: rulesQuery.queryKey })
      void client.invalidateQueries({ queryKey: ['message'] })
    },
  })
}

async function saveChannel(
  id: string | null,
  body: { name: string; url: string; enable: boolean },
): Promise<string> {
  if (id === null) return (await ok(api.POST('/notify/channel', { body }))).id
  await ok(api.PATCH('/notify/channel/{id}', { params: { path: { id } }, body }))
  return id
}
