import { Link, useNavigate, useParams, useRouter } from '@tanstack/react-router'
import { type ComponentPropsWithoutRef, type MouseEvent, type Ref, useMemo } from 'react'

type Search = Record<string, unknown>

interface Props extends Omit<ComponentPropsWithoutRef<'a'>, 'href'> {
  /** A path inside the organization: `/jobs/${id}`. */
  to: string
  search?: Search
  hash?: string
  ref?: Ref<HTMLAnchorElement>
}

/** A link to a page of this organization. */
export function AppLink({ to, search, hash, ...rest }: Props) {
  const place = useAppPath()
  return (
    <Link
      activeOptions={{ exact: true, includeSearch: false }}
      to={place(to) as '/'}
      search={(search ?? {}) as never}
      hash={hash}
      {...rest}
    />
  )
}

/** The complete path of a page of this organization. */
export function useAppPath(): (to: string) => string {
  const { customer } = useParams({ strict: false }) as { customer?: string }
  return (to) => `/${encodeURIComponent(customer ?? '')}${to === '/' ? '' : to}`
}

/** `const go = useGo(); go('/jobs/1')` */
export function useAppNavigate(): (to: string, search?: Search) => void {
  const place = useAppPath()
  const navigate = useNavigate()
  return (to, search = {}) => void navigate({ to: place(to) as '/', search: search as never })
}

/** The properties of an <a> that links to a page of this organization. */
export type LinkProps = (to: string) => { href: string; onClick: (event: MouseEvent) => void }

/** For the rows of long lists: one look at the router for all links, not one for each. */
export function useLinkProps(): LinkProps {
  const { customer } = useParams({ strict: false }) as { customer?: string }
  const router = useRouter()
  return useMemo(() => {
    const home = `/${encodeURIComponent(customer ?? '')}`
    const root = router.history.createHref(router.buildLocation({ to: home as '/' }).publicHref)
    return (to) => ({
      href: root + to,
      onClick: (event) => {
        if (isForBrowser(event)) return
        event.preventDefault()
        void router.navigate({ to: (home + to) as '/', search: {} as never })
      },
    })
  }, [customer, router])
}

/** A new tab or window, a download. */
function isForBrowser(event: MouseEvent): boolean {
  const { metaKey, ctrlKey, shiftKey, altKey } = event
  return event.defaultPrevented || event.button !== 0 || metaKey || ctrlKey || shiftKey || altKey
}
