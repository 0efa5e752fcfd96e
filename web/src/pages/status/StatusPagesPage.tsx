import { Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ExternalLink, Plus, RadioTower } from 'lucide-react'
import { UI } from '../../api/client'
import { statusPagesQuery } from '../../api/queries/monitoring/statusPage'
import { useKeys } from '../../app/keys'
import { useNavTitles } from '../../app/pages'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { AppLink, useAppNavigate } from '../../ui/AppLink'
import { EmptyState } from '../../ui/layout/EmptyState'
import { QueryResult } from '../../ui/layout/QueryResult'
import { useText } from './text'
import './status.css'

/** The organization's status pages. */
export function StatusPagesPage() {
  const t = useText()
  usePageTitle(useNavTitles().status)
  const go = useAppNavigate()
  const may = useCan()('statuspage.edit')
  const query = useQuery(statusPagesQuery)
  useKeys(may ? { c: () => go('/status/new') } : {})
  const create = may ? (
    <Button component={AppLink} to="/status/new" leftSection={<Plus size={14} />}>
      {t.new}
    </Button>
  ) : null
  return (
    <Paper withBorder>
      <QueryResult query={query}>
        {(pages) =>
          pages.length === 0 ? (
            <EmptyState icon={RadioTower} title={t.first}>
              <p>{t.firstBody}</p>
              {create ?? t.needsAdmin}
            </EmptyState>
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
                      <AppLink to={`/status/${page.id}`} className="status-link">
                        {page.title}
                      </AppLink>
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
      </QueryResult>
    </Paper>
  )
}
