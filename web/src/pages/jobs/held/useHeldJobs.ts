import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../../api/client'
import { showError, showSuccess } from '../../../ui/toast'
import { useHeldText } from './heldText'

export type HeldJob = Shape<'HeldJob'>

/** The held jobs of the organization, page by page; events of jobs load them again. */
export function useHeldJobs() {
  return useInfiniteQuery({
    queryKey: ['job', 'held'],
    queryFn: ({ pageParam, signal }) =>
      ok(api.GET('/job/held', { params: { query: { after: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last, pages) =>
      pages.flatMap((page) => page.jobs).length < last.total ? last.jobs.at(-1)?.id : undefined,
  })
}

async function releaseAll(): Promise<number> {
  let count = 0
  for (;;) {
    const { released, more } = await ok(api.POST('/job/release'))
    count += released
    if (!more) return count
  }
}

/** Releases one job, all jobs, or cancels one. */
export function useDecisions(onDone: () => void) {
  const t = useHeldText()
  const client = useQueryClient()
  const settle = {
    onError: showError,
    onSettled: () => {
      onDone()
      return client.invalidateQueries({ queryKey: ['job'] })
    },
  }
  const release = useMutation({
    mutationFn: (id: string) => ok(api.PUT('/job/{id}/release', { params: { path: { id } } })),
    onSuccess: () => showSuccess(t.released(1)),
    ...settle,
  })
  const cancel = useMutation({
    mutationFn: (id: string) => ok(api.PUT('/job/{id}/cancel', { params: { path: { id } } })),
    onSuccess: () => showSuccess(t.canceled),
    ...settle,
  })
  const all = useMutation({
    mutationFn: releaseAll,
    onSuccess: (count) => showSuccess(t.released(count)),
    ...settle,
  })
  return { release, cancel, all }
}
