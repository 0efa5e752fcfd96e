import { Button } from '@mantine/core'
import { Compass, TriangleAlert } from 'lucide-react'
import { UI } from '../api/client'
import { Empty } from '../ui/Empty'
import { useText } from './text'

export function Missing() {
  const t = useText()
  return (
    <Empty icon={Compass} title={t.missing}>
      <p>{t.missingBody}</p>
      <Button component="a" href={UI} variant="default">
        {t.home}
      </Button>
    </Empty>
  )
}

export function Broken({ error }: { error: unknown }) {
  const t = useText()
  return (
    <Empty icon={TriangleAlert} title={t.broken}>
      <p>{t.brokenBody}</p>
      <p>
        <code>{error instanceof Error ? error.message : String(error)}</code>
      </p>
      <Button variant="default" onClick={() => location.reload()}>
        {t.reload}
      </Button>
    </Empty>
  )
}
