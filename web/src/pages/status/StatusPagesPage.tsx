import { Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ExternalLink, Plus, RadioTower } from 'lucide-react'
import { UI } from '../../api/client'
import { statusPagesQuery } from '../../api/queries/monitoring/statusPage'
import { useKeys } from '../../app/keys'
import { useCan } from '../../app/session'
import { useText as useAppText } from '../../app/text'
import { usePageTitle } from '../../app/title'
import { Go, useGo } from '../../ui/AppLink'
import { Empty } from '../../ui/layout/EmptyState'
import { Loaded } from '../../ui/layout/QueryResult'
import { useText } from './text'
import './status.css'

/** The organization's status pages. */
export function StatusPage() {
  const t = useText()
  usePageTitle(useAppText().status)
  const go = useGo()
  const may = useCan()('statuspage.edit')
  const query = useQuery(statusPagesQuery)
  useKeys(may ? { c: () => go('/status/new') } : {})
  const create = may ? (
    <Button component={Go} to="/status/new" leftSection={<Plus size={14} />}>
      {t.new}
    </Button>
  ) : null
  return (
    <Paper withBorder>
      <Loaded query={query}>
        {(pages) =>
          pages.length === 0 ? (
            <Empty icon={RadioTower} title={t.first}>
              <p>{t.firstBody}</p>
              {create ?? t.needsAdmin}
            </Empty>
          ) : (
            <>
              <Group className="head" justify="space-between">
                <Text size="xs" c="dimmed" role="status">
                  {t.count(pages.length)}
                </Text>
                {create}
              </Group>
              {pages.map((page) => (
                <div className="row status-row" key={page.id}>
                  <div className="clip">
                    {may ? (
                      <Go to={`/status/${page.id}`} className="status-link">
                        {page.title}
                      </Go>
                    ) : (
                      <b>{page.title}</b>
                    )}
                    <Text size="xs" c="dimmed" className="clip">
                      /{page.slug} · {t.partsN(page.parts.length)}
                    </Text>
                  </div>
                  {page.enable ? <span /> : <Badge size="sm">{t.off}</Badge>}
                  <Button
                    component="a"
                    href={`${UI}status/${page.slug}`}
                    target="_blank"
                    rel="noreferrer"
                    variant="default"
                    className="status-open"
                    leftSection={<ExternalLink size={14} />}
                    aria-label={`${t.open}: ${page.title}`}
                  >
                    {t.open}
                  </Button>
                </div>
              ))}
            </>
          )
        }
      </Loaded>
    </Paper>
  )
}
