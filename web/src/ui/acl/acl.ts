import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../api/client'
import type { AclObject } from './visibility'

type Acl = Shape<'AclRecord'>
const PATHS = {
  task: '/task/{id}/acl',
  workflow: '/workflows/{id}/acl',
  indicator: '/indicator/{id}/acl',
  monitor: '/monitor/{id}/acl',
} as const

export const aclQuery = (object: AclObject, id: string) =>
  queryOptions({
    queryKey: [object, id, 'acl'],
    queryFn: () => ok<Acl>(api.GET(PATHS[object], { params: { path: { id } } })),
  })

export type AclChange =
  | { action: 'add' | 'remove' | 'replace'; users: string[] }
  | { action: 'clear' }

export function changeAcl(object: AclObject, id: string, change: AclChange): Promise<Acl> {
  const params = { path: { id } }
  const path = PATHS[object]
  if (change.action === 'clear') return ok<Acl>(api.DELETE(path, { params }))
  const { action, users } = change
  if (action === 'replace') return ok<Acl>(api.PUT(path, { params, body: { users } }))
  return ok<Acl>(api.PATCH(path, { params, body: { action, users } }))
}
