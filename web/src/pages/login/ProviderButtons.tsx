import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, ok, ROOT, type Shape, UI } from '../../api/client'
import { useText } from './text'

/** How one can sign in to an organization; without a name to the only one. */
export function useMethods(customer?: string): Shape<'MethodsRecord'> | undefined {
  const { data } = useQuery({
    queryKey: ['methods', customer],
    queryFn: () =>
      ok(api.GET('/api/auth/methods', { params: { query: customer ? { customer } : {} } })),
    retry: false,
  })
  return data
}

/** A button for each provider; afterwards the browser is at the page `to`. */
export function ProviderButtons({
  providers,
  to,
}: {
  providers: Shape<'SignInProviderRecord'>[]
  to?: string
}) {
  const t = useText()
  const target = `?to=${encodeURIComponent(UI + (to ?? '/').replace(/^\//, ''))}`
  return (
    <>
      {providers.map((provider) => (
        <Button
          key={provider.id}
          component="a"
          size="sm"
          variant="default"
          href={ROOT + provider.begin.replace(/^\//, '') + target}
        >
          {t.through(provider.name)}
        </Button>
      ))}
    </>
  )
}
