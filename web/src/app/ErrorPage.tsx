import { Button, Group } from '@mantine/core'
import { useCanGoBack, useRouter } from '@tanstack/react-router'
import { Compass, TriangleAlert } from 'lucide-react'
import { useEffect } from 'react'
import { UI } from '../api/client'
import { EmptyState } from '../ui/layout/EmptyState'
import { useWords } from '../ui/text'
import { reloadWhenReachable } from './reload'
import { useText } from './text'
import { usePageTitle } from './title'

export function NotFoundPage() {
  const t = useText()
  usePageTitle(useWords().notFound)
  const { history } = useRouter()
  const hasBefore = useCanGoBack()
  return (
    <EmptyState icon={Compass} title={t.missing}>
      <p>{t.missingBody}</p>
      <Group justify="center" gap={8}>
        {hasBefore ? (
          <Button variant="default" onClick={() => history.back()}>
            {t.back}
          </Button>
        ) : null}
        <Button component="a" href={UI} variant="default">
          {t.home}
        </Button>
      </Group>
    </EmptyState>
  )
}

/** The texts of Chromium, Firefox and Safari for a script that could not be loaded. */
const NOT_LOADED = /dynamically imported module|module script/i

export function ErrorPage({ error }: { error: unknown }) {
  const t = useText()
  const message = error instanceof Error ? error.message : String(error)
  const isLoaded = !NOT_LOADED.test(message)
  useEffect(() => (isLoaded ? undefined : reloadWhenReachable()), [isLoaded])
  return (
    <EmptyState icon={TriangleAlert} title={isLoaded ? t.broken : t.notLoaded}>
      <p>{isLoaded ? t.brokenBody : t.notLoadedBody}</p>
      <p>
        <code>{message}</code>
      </p>
      <Button variant="default" onClick={() => location.reload()}>
        {t.reload}
      </Button>
    </EmptyState>
  )
}
