import { Button, Group } from '@mantine/core'
import { useCanGoBack, useRouter } from '@tanstack/react-router'
import { Compass, TriangleAlert } from 'lucide-react'
import { UI } from '../api/client'
import { EmptyState } from '../ui/layout/EmptyState'
import { useWords } from '../ui/text'
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

export function ErrorPage({ error }: { error: unknown }) {
  const t = useText()
  return (
    <EmptyState icon={TriangleAlert} title={t.broken}>
      <p>{t.brokenBody}</p>
      <p>
        <code>{error instanceof Error ? error.message : String(error)}</code>
      </p>
      <Button variant="default" onClick={() => location.reload()}>
        {t.reload}
      </Button>
    </EmptyState>
  )
}
