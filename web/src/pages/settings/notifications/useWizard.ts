import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { channelsQuery, rulesQuery } from '../../../api/queries/notifications'
import { showError } from '../../../ui/toast'

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

interface Saved {
  channelId?: string
  ruleId?: string
  /** The last test of the channel was sent. */
  isSent?: boolean
  isClosed?: boolean
}

/** Saves the channel, tests it, and saves the rule when the test was sent. Another try changes the
 * same channel; without a sent test it is deleted at the end. */
export function useWizard() {
  const client = useQueryClient()
  const saved = useRef<Saved>({})
  const onSettled = () => {
    void client.invalidateQueries({ queryKey: channelsQuery.queryKey })
    void client.invalidateQueries({ queryKey: rulesQuery.queryKey })
    void client.invalidateQueries({ queryKey: ['message'] })
  }
  const test = useMutation({
    mutationFn: async (setup: Setup): Promise<Shape<'MessageRecord'>> => {
      const state = saved.current
      state.isSent = false
      const id = await saveChannel(state, { name: setup.name, url: setup.url, enable: true })
      const message = await ok(api.POST('/notify/channel/{id}/test', { params: { path: { id } } }))
      state.isSent = message.state === 'sent'
      if (state.isSent) await saveRule(state, setup)
      else if (state.isClosed) await deleteAll(state)
      return message
    },
    onSettled,
  })
  const choose = useMutation({
    mutationFn: (setup: Setup) => saveRule(saved.current, setup),
    onSettled,
  })
  const remove = useMutation({ mutationFn: deleteAll, onError: showError, onSettled })
  return {
    test,
    choose,
    /** Deletes the data of a channel that does not work. */
    discard: ({ isClosed }: { isClosed: boolean }) => {
      const state = saved.current
      saved.current = {}
      state.isClosed = isClosed
      test.reset()
      if (state.channelId && !state.isSent && !test.isPending) remove.mutate(state)
    },
  }
}

async function saveChannel(
  state: Saved,
  body: { name: string; url: string; enable: boolean },
): Promise<string> {
  if (!state.channelId) {
    state.channelId = (await ok(api.POST('/notify/channel', { body }))).id
    return state.channelId
  }
  const params = { path: { id: state.channelId } }
  await ok(api.PATCH('/notify/channel/{id}', { params, body }))
  return state.channelId
}

async function saveRule(state: Saved, { ruleName, scope }: Setup): Promise<void> {
  if (scope === 'none') return deleteRule(state)
  const body = { name: ruleName, channels: [state.channelId!], kinds: KINDS[scope], enable: true }
  if (state.ruleId)
    await ok(api.PATCH('/notify/rule/{id}', { params: { path: { id: state.ruleId } }, body }))
  else state.ruleId = (await ok(api.POST('/notify/rule', { body }))).id
}

async function deleteRule(state: Saved): Promise<void> {
  if (!state.ruleId) return
  await ok(api.DELETE('/notify/rule/{id}', { params: { path: { id: state.ruleId } } }))
  delete state.ruleId
}

async function deleteAll(state: Saved): Promise<void> {
  await deleteRule(state)
  await ok(api.DELETE('/notify/channel/{id}', { params: { path: { id: state.channelId! } } }))
}
