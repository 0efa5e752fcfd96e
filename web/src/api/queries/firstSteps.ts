import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape } from '../client'

/** What a new organization has set up, and how many objects of the demo exist; for admins. */
export const firstStepsQuery = queryOptions({
  queryKey: ['first-steps'],
  meta: { after: ['task', 'job', 'schedule', 'host', 'rule', 'channel', 'member'] },
  queryFn: () => ok<Shape<'FirstSteps'>>(api.GET('/api/first-steps')),
})
